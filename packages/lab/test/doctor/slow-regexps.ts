import type { Planted, SmallApp } from './small-apps.ts';

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

const served = (dependencies: Record<string, string>): string =>
  json({ scripts: { start: 'node --import @redline/http/register app.js' }, dependencies });

const express = (body: string, head = ''): Record<string, string> => ({
  'package.json': served({ express: '^5.0.0' }),
  'app.js': `import express from 'express';
${head}const app = express();
${body}
app.listen(3000);
`,
});

const rule = 'super-linear-regexp';

export const slowRegexps: Record<string, Planted> = {
  'a loop in a loop, matched against the query': {
    rule,
    files: express(`app.get('/', (req, res) => {
  const ok = /^(\\w+\\s?)*$/.test(req.query.name); // <-
  res.send(String(ok));
});`),
  },
  'a choice that reads a text in two ways, on the body, through variables': {
    rule,
    files: express(`const pattern = /^(?:a|aa)+$/;
app.post('/', (req, res) => {
  const { name } = req.body;
  const text = String(name ?? '').trim();
  res.send(text.match(pattern)); // <-
});`),
  },
  'an expression of another file, in a function of a third': {
    rule,
    files: {
      ...express(
        `app.get('/', (req, res) => {
  res.send(String(isName(req.params.name)));
});`,
        "import { isName } from './check.js';\n",
      ),
      'check.js': `import { names } from './patterns.js';
export function isName(text) {
  return names.user.test(text); // <-
}
`,
      'patterns.js': 'export const names = { user: /^([a-z]+)*$/ };\n',
    },
  },
  'two loops that share characters, with a header': {
    rule,
    files: express(`app.use((req, res, next) => {
  const [, id] = req.headers['x-trace'].match(/^\\d+(\\d+)$/) ?? []; // <-
  req.id = id;
  next();
});`),
  },
  'a schema of zod': {
    rule,
    files: {
      ...express(
        `app.post('/', (req, res) => {
  res.send(user.parse(req.body));
});`,
        "import { user } from './user.js';\n",
      ),
      'user.js': `import { z } from 'zod';
export const user = z.object({
  email: z.string().regex(/^([\\w-]+\\.?)+@[a-z]+$/), // <-
});
`,
    },
  },
  'a JSON Schema of Fastify': {
    rule,
    files: {
      'package.json': served({ fastify: '^5.0.0' }),
      'app.js': `import { fastify } from 'fastify';
const app = fastify();
const schema = {
  querystring: {
    type: 'object',
    properties: {
      name: { type: 'string', pattern: '^([a-z]+ ?)*$' }, // <-
    },
  },
};
app.get('/', { schema }, async (request) => request.query.name);
app.listen({ port: 3000 });
`,
    },
  },
  'a pattern made from text, on a parameter of a controller': {
    rule,
    files: {
      'package.json': json({
        dependencies: { '@nestjs/core': '^12.0.0', '@redline/nest': '0.1.0' },
      }),
      'src/tags.controller.ts': `import { Controller, Get, Query } from '@nestjs/common';
const tags = new RegExp('^(\\\\d+,?)+$');
@Controller('tags')
export class TagsController {
  @Get()
  list(@Query('ids') ids: string): boolean {
    return tags.test(ids); // <-
  }
}
`,
    },
  },
  'each part of a list from the path': {
    rule,
    files: express(`app.get('/:ids', (req, res) => {
  const all = req.params.ids.split(',').filter((id) => /^(?:[^/]+\\/?)*$/.test(id)); // <-
  res.send(all);
});`),
  },
  'an exponential with a limit that is too high': {
    rule,
    files: express(`app.get('/', (req, res) => {
  const { name } = req.query;
  if (name.length > 200) return res.sendStatus(400);
  return res.send(name.replace(/^(.*,)*x$/, '')); // <-
});`),
  },
};

const linear = [
  '/^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i',
  '/^[a-z0-9]+(?:-[a-z0-9]+)*$/',
  '/^[^\\s@]+@[^\\s@]+$/',
  '/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/',
  '/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$/i',
];

export const cleanRegexps: Record<string, SmallApp> = {
  'validators in linear time': {
    files: express(`const all = [${linear.join(', ')}];
app.get('/', (req, res) => {
  res.send(String(${linear.map((each) => `${each}.test(req.query.id)`).join(' || ')} || all));
});`),
  },
  'slow expressions that no request text reaches': {
    files: express(`const slow = /^(a+)+$/;
const isDev = slow.test(process.env.NODE_ENV);
app.get('/', (req, res) => {
  res.send(String(isDev || slow.test('aaa') || slow.test(process.env.NAME)));
});`),
  },
  'a polynomial behind a limit of length': {
    files: express(`app.get('/', (req, res) => {
  const { name } = req.query;
  if (name.length > 100) return res.sendStatus(400);
  return res.send(String(/^\\d+\\d+$/.test(name) || /^\\d+\\d+$/.test(req.url.slice(0, 100))));
});`),
  },
  'a search from each start, which is a hint': {
    files: express(`app.get('/', (req, res) => {
  res.send(req.url.replace(/\\/+$/, ''));
});`),
  },
};
