#!/usr/bin/env node
// The command line: the binary of this platform, with the arguments of this process.
const { spawnSync } = require("node:child_process");
const { findBinary } = require("../lib/binary.js");

const done = spawnSync(findBinary(), process.argv.slice(2), { stdio: "inherit" });
if (done.error) throw done.error;
if (done.signal) process.kill(process.pid, done.signal);
process.exitCode = done.status ?? 1;
