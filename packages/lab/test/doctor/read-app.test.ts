import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { App } from '../../src/doctor/app/app.ts';
import { readApp } from '../../src/doctor/app/read-app.ts';

function read(t: TestContext, files: Record<string, string>, command?: string[]): App {
  const folder = mkdtempSync(join(tmpdir(), 'redline-read-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return readApp(folder, command && { command, env: {} });
}

describe('the framework of an app', () => {
  const listed = JSON.stringify({
    dependencies: {
      '@nestjs/core': '12',
      '@nestjs/platform-express': '12',
      express: '5',
      koa: '3',
    },
  });
  for (const [name, code, framework] of [
    ['Koa', "import Koa from 'koa';\nnew Koa().listen(3000);\n", 'Koa'],
    ['Express', "const express = require('express');\nexpress().listen(3000);\n", 'Express'],
    [
      'Nest',
      "import { NestFactory } from '@nestjs/core';\nawait NestFactory.create(App);\n",
      'Nest on Express',
    ],
    [
      'Nest on Fastify',
      "import { NestFactory } from '@nestjs/core';\nimport { FastifyAdapter } from '@nestjs/platform-fastify';\n",
      'Nest on Fastify',
    ],
    ['none', "import http from 'node:http';\nhttp.createServer().listen(3000);\n", undefined],
  ] as const) {
    test(`comes from the imports, not from the package.json of a workspace: ${name}`, (t) => {
      assert.equal(read(t, { 'package.json': listed, 'app.js': code }).framework, framework);
    });
  }
});

describe('files that do not exist', () => {
  test('are named, and the source is read instead if nothing else was', (t) => {
    const app = read(
      t,
      {
        'package.json': '{}',
        'bin/server.js': "require('../lib/cli');\n",
        'src/cli.js': "require('./routes');\n",
        'src/routes.js': 'exports.routes = [];\n',
      },
      ['node', 'bin/server.js'],
    );
    assert.deepEqual(app.missing, [{ from: 'bin/server.js', specifier: '../lib/cli' }]);
    assert.deepEqual(app.sources.map(({ name }) => name).toSorted(), [
      'bin/server.js',
      'src/cli.js',
      'src/routes.js',
    ]);
  });

  test('do not include optional imports, data, and types', (t) => {
    const app = read(
      t,
      {
        'package.json': '{}',
        'app.ts':
          "import type { A } from './types.js';\nimport data from './data.json' with { type: 'json' };\nimport './other.js';\ntry { require('./local'); } catch {}\n",
        'data.json': '{}',
        'other.js': '',
      },
      ['node', 'app.ts'],
    );
    assert.deepEqual(app.missing, []);
  });
});
