// Packs the npm packages: `toolmark`, and one around a binary that is built already.
//
//     node pack.mjs --binary target/dist/toolmark --platform linux-x64 --out dist
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    binary: { type: "string" },
    platform: { type: "string", default: `${process.platform}-${process.arch}` },
    out: { type: "string", default: "dist" },
  },
});
const about = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const out = resolve(values.out);
mkdirSync(out, { recursive: true });

/** Packs a directory that is called `package`, as `npm pack` does. */
function pack(directory, name) {
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    copyFileSync(join(here, "..", licence), join(directory, licence));
  }
  const file = join(out, `${name}-${about.version}.tgz`);
  execFileSync("tar", ["-czf", file, "-C", dirname(directory), "package"]);
  console.log(file);
}

const work = mkdtempSync(join(tmpdir(), "toolmark-npm-"));
try {
  const main = join(work, "main", "package");
  for (const part of [...about.files, "package.json", "README.md"]) {
    cpSync(join(here, part), join(main, part), { recursive: true });
  }
  pack(main, "toolmark");
  if (values.binary) {
    const name = `@toolmark/${values.platform}`;
    if (!(name in about.optionalDependencies)) throw new Error(`${name} is not in package.json`);
    const [os, cpu, libc] = values.platform.split("-");
    const directory = join(work, "platform", "package");
    mkdirSync(join(directory, "bin"), { recursive: true });
    const target = join(directory, "bin", basename(values.binary));
    copyFileSync(values.binary, target);
    chmodSync(target, 0o755);
    const { version, license, repository } = about;
    const description = `The toolmark binary for ${values.platform}`;
    const limits = { os: [os], cpu: [cpu], ...(os === "linux" && { libc: [libc ?? "glibc"] }) };
    const json = {
      name,
      version,
      description,
      license,
      repository,
      preferUnplugged: true,
      ...limits,
    };
    writeFileSync(join(directory, "package.json"), JSON.stringify(json, null, 2));
    pack(directory, `toolmark-${values.platform}`);
  }
} finally {
  rmSync(work, { recursive: true });
}
