// Bundles the page: node build.mjs OUTDIR [--watch]
//
// src/main.ts becomes app.js, src/archive/boot.ts boot.js, each src/**/NAME.worker.ts becomes NAME.worker.js, src/style.css
// becomes style.css with the fonts that it names; src/index.html and src/*.svg are copied. The licenses of the packages that went
// into the bundle are gathered in THIRD_PARTY_LICENSES.txt.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const root = fileURLToPath(new URL(".", import.meta.url));
const source = join(root, "src");
const [outdir, ...flags] = process.argv.slice(2);
if (!outdir) {
  console.error("usage: node build.mjs OUTDIR [--watch]");
  process.exit(2);
}
const watch = flags.includes("--watch");

const workers = readdirSync(source, { recursive: true })
  .filter((file) => file.endsWith(".worker.ts"))
  .map((file) => ({ in: join(source, file), out: basename(file, ".ts") }));

const options = {
  absWorkingDir: root,
  entryPoints: [
    { in: join(source, "main.ts"), out: "app" },
    { in: join(source, "style.css"), out: "style" },
    ...workers,
    { in: join(source, "archive", "boot.ts"), out: "boot" },
  ],
  outdir,
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  assetNames: "[name]",
  loader: { ".woff2": "file" },
  publicPath: "/static",
  logLevel: "warning",
  metafile: true,
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  target: "es2022",
};

/** The folder of the npm package that `input` (relative to `root`) belongs to, or undefined. */
function packageOf(input) {
  const match = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input.split(sep).join("/"));
  return match?.[1];
}

function licensesOf(metafile) {
  const names = new Set(Object.keys(metafile.inputs).map(packageOf).filter(Boolean));
  const texts = [...names].sort().map((name) => {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file && !license) throw new Error(`${name} ${version} names no license`);
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : license;
    return `${name} ${version}\n\n${text}\n`;
  });
  return texts.length
    ? texts.join(`\n${"-".repeat(80)}\n\n`)
    : "The page contains no third-party code.\n";
}

function copyAssets() {
  mkdirSync(outdir, { recursive: true });
  for (const file of readdirSync(source)) {
    if (file === "index.html" || file.endsWith(".svg")) {
      copyFileSync(join(source, file), join(outdir, file));
    }
  }
}

if (!existsSync(join(source, "main.ts"))) {
  console.error(`${source} has no main.ts`);
  process.exit(1);
}
copyAssets();
if (watch) {
  const context = await esbuild.context(options);
  await context.watch();
  console.log(`watching ${source}, writing ${outdir}`);
} else {
  const { metafile } = await esbuild.build(options).catch(() => process.exit(1));
  writeFileSync(join(outdir, "THIRD_PARTY_LICENSES.txt"), licensesOf(metafile));
}
