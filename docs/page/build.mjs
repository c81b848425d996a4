// Bundles the page: node build.mjs <repository> <target>, in a folder with the node_modules of package.json.

import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [root, target] = process.argv.slice(2);
const modules = join(process.cwd(), 'node_modules');
const { build } = createRequire(join(process.cwd(), 'package.json'))('esbuild');
const page = join(root, 'docs', 'page');

await build({
  entryPoints: ['main', 'worker', 'pico'].map((name) => join(page, 'src', `${name}.js`)),
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
cpSync(join(root, 'examples', 'digits', 'digits.bin'), join(target, 'digits.bin'));
cpSync(join(root, 'examples', 'xor', 'train.py'), join(target, 'xor.py'));
const micropython = join(modules, '@micropython', 'micropython-webassembly-pyscript');
cpSync(join(micropython, 'micropython.wasm'), join(target, 'micropython.wasm'));
