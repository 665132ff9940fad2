import { ask, attempt, serve, textOf, type Behaviours, type Listener } from './engine.ts';
import { leave } from './wire.ts';

const head = (...lines: string[]) =>
  ['POST / HTTP/1.1', 'Host: a', 'Connection: close', ...lines, '', ''].join('\r\n');
const expecting = head('Expect: 100-continue', 'Content-Length: 4');
const echo: Listener = async (request, response) => {
  response.end(`got ${await textOf(request)}`);
};

export const expectations: Behaviours = {
  '100-continue is answered on its own': (http) =>
    ask(http, echo, [expecting, /100 Continue\r\n\r\n/, 'body']),
  '100-Continue, in other case': (http) =>
    ask(http, echo, [head('Expect: 100-Continue', 'Content-Length: 4'), /\r\n\r\n/, 'body']),
  '100-continue with the body already there': (http) => ask(http, echo, [`${expecting}body`]),
  'what is 100-continue, and what only looks like it': async (http) => {
    const answers: unknown[] = [];
    for (const value of [
      'x100-continue',
      '100-continued',
      '_100-continue',
      'other, 100-continue',
      '(100-continue)',
      '',
    ]) {
      answers.push(await ask(http, echo, [head(`Expect: ${value}`, 'Content-Length: 0')]));
    }
    return answers;
  },
  '100-continue of a chunked body': (http) =>
    ask(http, echo, [
      head('Expect: 100-continue', 'Transfer-Encoding: chunked'),
      /100 Continue\r\n\r\n/,
      '4\r\nbody\r\n0\r\n\r\n',
    ]),
  '100-continue of HTTP/1.0': (http) =>
    ask(http, echo, [
      'POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n',
      'body',
    ]),
  'checkContinue decides': async (http) => {
    await using serving = await serve(http, {}, echo, (server) => {
      server.on('checkContinue', async (request, response) => {
        response.writeContinue();
        response.end(`checked ${await textOf(request)}`);
      });
    });
    return await serving.talk(expecting, /100 Continue\r\n\r\n/, 'body');
  },
  'checkContinue may refuse': async (http) => {
    await using serving = await serve(http, {}, echo, (server) => {
      server.on('checkContinue', (_, response) => {
        response.writeHead(417, { 'Content-Length': 2 });
        response.end('no');
      });
    });
    return await serving.talk(expecting);
  },
  'a refused body does not become a request': async (http) => {
    const urls: string[] = [];
    await using serving = await serve(
      http,
      {},
      (request, response) => {
        urls.push(request.url!);
        response.end('x');
      },
      (server) => {
        server.on('checkContinue', (_, response) => {
          response.writeHead(401);
          response.end();
        });
      },
    );
    const conversation = await serving.talk(
      'POST /1 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n',
      /\r\n\r\n/,
      'bodyGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    return { conversation, urls };
  },
  'checkContinue may pass it on': async (http) => {
    await using serving = await serve(http, {}, echo, (server) => {
      server.on('checkContinue', (request, response) => server.emit('request', request, response));
    });
    return await serving.talk(expecting, 'body');
  },
  'another expectation gets 417': (http) => ask(http, echo, [head('Expect: something')]),
  'an empty expectation': (http) => ask(http, echo, [head('Expect: ', 'Content-Length: 0')]),
  'checkExpectation decides': async (http) => {
    await using serving = await serve(http, {}, echo, (server) => {
      server.on('checkExpectation', (request, response) => {
        response.end(`expects ${request.headers.expect}`);
      });
    });
    return await serving.talk(head('Expect: something'));
  },
  'writeContinue before the answer': (http) =>
    ask(
      http,
      (_, response) => {
        response.writeContinue(() => response.end('after'));
      },
      [head('Content-Length: 0')],
    ),
  'writeContinue twice': (http) =>
    ask(
      http,
      (_, response) => {
        response.writeContinue();
        response.writeContinue();
        response.end('after');
      },
      [head('Content-Length: 0')],
    ),
  writeProcessing: (http) =>
    ask(
      http,
      (_, response) => {
        response.writeProcessing();
        response.end('after');
      },
      [head('Content-Length: 0')],
    ),
  'early hints': (http) =>
    ask(
      http,
      (_, response) => {
        response.writeEarlyHints({
          link: ['</style.css>; rel=preload; as=style', '</script.js>; rel=preload; as=script'],
          'X-Trace': 'id',
        });
        response.end('after');
      },
      [head('Content-Length: 0')],
    ),
  'early hints, one link and a callback': (http) =>
    ask(
      http,
      (_, response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () =>
          response.end('after'),
        );
      },
      [head('Content-Length: 0')],
    ),
  'early hints that are wrong': async (http) => {
    const outcomes: unknown[] = [];
    const bad: unknown[] = [
      undefined,
      null,
      'text',
      {},
      { link: '' },
      { link: [] },
      { link: 1 },
      { link: 'no link' },
      { link: '</a>\r\nX: y; rel=preload' },
      { link: '</a>; rel=preload', 'X-A': 'a\r\nb' },
      { link: '</a>; rel=preload', 'X A': 'a' },
    ];
    const conversation = await ask(
      http,
      (_, response) => {
        for (const hints of bad) {
          outcomes.push(attempt(() => response.writeEarlyHints(hints as never)));
        }
        response.end('after');
      },
      [head('Content-Length: 0')],
    );
    return { outcomes, conversation };
  },
  'hints after the head': async (http) => {
    const outcomes: unknown[] = [];
    const conversation = await ask(
      http,
      (_, response) => {
        response.writeHead(200, { 'Content-Length': 1 });
        outcomes.push(attempt(() => response.writeEarlyHints({ link: '</a>; rel=preload' })));
        outcomes.push(attempt(() => response.writeContinue()));
        outcomes.push(attempt(() => response.writeProcessing()));
        response.end('x');
      },
      [head('Content-Length: 0')],
    );
    return { outcomes, conversation };
  },
  'an expectation on a kept connection': (http) =>
    ask(http, echo, [
      'POST /1 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n',
      /100 Continue\r\n\r\n/,
      'a',
      /got a/,
      'POST /2 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n',
      /100 Continue\r\n\r\n/,
      'b',
      /got b/,
      leave,
    ]),
};
