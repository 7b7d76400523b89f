// Where the binary is: one package per platform, of which npm installs the right one.
const { existsSync } = require("node:fs");

/** Is this a Linux without glibc? */
function isMusl() {
  const header = process.report?.getReport()?.header;
  return process.platform === "linux" && header !== undefined && !header.glibcVersionRuntime;
}

/** The package with the binary of this platform. */
function platformPackage() {
  const name = `@toolmark/${process.platform}-${process.arch}`;
  return isMusl() ? `${name}-musl` : name;
}

/**
 * The path of the binary: the one that TOOLMARK_BINARY names, else the one of this
 * platform's package.
 */
function findBinary() {
  const named = process.env.TOOLMARK_BINARY;
  if (named) {
    if (!existsSync(named)) {
      throw new Error(`TOOLMARK_BINARY names ${named}, which is not a file`);
    }
    return named;
  }
  const name = process.platform === "win32" ? "toolmark.exe" : "toolmark";
  const wanted = platformPackage();
  try {
    return require.resolve(`${wanted}/bin/${name}`);
  } catch {
    throw new Error(
      `${wanted} is not installed: install toolmark without --omit=optional, or name the ` +
        "binary in TOOLMARK_BINARY",
    );
  }
}

module.exports = { findBinary, platformPackage };
