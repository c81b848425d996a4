// Bundles the page: node build.mjs <repository> <target>, in a folder with the node_modules of package.json.

import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [root, target] = process.argv.slice(2);
const modules = join(process.cwd(), 'node_modules');
const { build } = createRequire(join(process.cwd(), 'package.json'))('esbuild');
const page = join(root, 'docs', 'page');

await build({
  entryPoints: ['main', 'worker', 'pico', 'data/recorder'].map((name) => join(page, 'src', `${name}.js`)),
  entryNames: '[name]',
  outdir: target,
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'eof',
  nodePaths: [modules],
  external: ['module', 'fs', 'path', 'url'], // of MicroPython's loader under Node alone
  logLevel: 'warning',
});
await build({
  entryPoints: [join(page, 'style.css')],
  outdir: target,
  bundle: true,
  minify: true,
  nodePaths: [modules],
  logLevel: 'warning',
});
cpSync(join(page, 'index.html'), join(target, 'index.html'));
for (const [file, name] of [
  ['digits/digits.bin', 'digits.bin'], ['gesture/day.bin', 'day.bin'], ['keyword/test.bin', 'test.bin'],
]) {
  cpSync(join(root, 'examples', file), join(target, name));
}
cpSync(join(page, 'board.py'), join(target, 'board.py'));
const micropython = join(modules, '@micropython', 'micropython-webassembly-pyscript');
cpSync(join(micropython, 'micropython.wasm'), join(target, 'micropython.wasm'));
