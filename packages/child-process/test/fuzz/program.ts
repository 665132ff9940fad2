import { Random } from './random.ts';

/** When something is done to a child. */
export type Moment =
  | 'now'
  | 'tick'
  | 'immediate'
  | 'spawn'
  | 'early'
  | 'late'
  | 'exit'
  | 'after exit';

export interface Action {
  readonly at: Moment;
  readonly do: Deed;
}

export type Deed = (typeof deeds)[number];

/** One child and what is done to it. Everything in it is JSON. */
export interface Child {
  readonly how: 'spawn' | 'execFile' | 'exec' | 'ipc';
  /** Lines of a shell script. */
  readonly script: readonly string[];
  readonly program: 'sh' | 'missing' | 'forbidden';
  readonly stdio: readonly string[] | undefined;
  readonly options: Readonly<Record<string, unknown>>;
  readonly abort: Moment | undefined;
  readonly actions: readonly Action[];
}

/** A small program: some children at once. */
export interface Program {
  readonly seed: number;
  /** Nothing but its children keeps it running: whether it ends, and when, is a part of the answer. */
  readonly isAlone: boolean;
  readonly children: readonly Child[];
}

/**
 * Output that nobody reads fits, all four lines of it, or is more than anything holds: how far a socket reads ahead, and
 * how much the kernel keeps, is not compared. Whether a closed pipe is EPIPE or ECONNRESET to a writer depends on that too.
 */
const lines = [
  'echo out',
  'echo err >&2',
  'echo out; echo more',
  'printf x',
  'head -c 20000 /dev/zero 2> /dev/null || exit 9',
  'head -c 1000000 /dev/zero 2> /dev/null || exit 9',
  'head -c 25000 /dev/zero 3>&2 2> /dev/null >&3 || exit 9',
  'sleep 0.25',
  'read line; echo "got $line"',
  'cat',
  'head -c 1 > /dev/null',
  'echo three >&3',
  'cat <&3',
  '(sleep 0.5; echo later) &',
  '(sleep 0.5; echo later >&2) &',
  'sleep 0.6 &',
  'exec >&-',
  'exec 2>&-',
  'trap "echo caught; exit 7" TERM; sleep 0.5 & wait',
  'trap "" TERM; sleep 0.4',
  'exit 3',
  'exit 255',
  'kill -9 $$',
  'kill -15 $$',
  'pwd',
  'echo "$VALUE"',
] as const;

/** Lines that may say more than an unread output holds. */
const filling = [
  'head -c 1000000 /dev/zero 2> /dev/null || exit 9',
  'cat',
] as const satisfies readonly (typeof lines)[number][];

/**
 * Once an output is full, how much room is left for another process depends on what has been read of it: that is not compared.
 * So a process that may wait for room holds nothing else, whose end would show whether it does.
 */
const waitsForRoom = {
  line: '(sleep 0.5; echo later) &',
  alone: '(exec <&- 2>&- 3>&- 4>&- 5>&-; sleep 0.5; echo later) &',
} as const satisfies { line: (typeof lines)[number]; alone: string };

/** Lines for which a shell without a descriptor 3, or with its output closed, complains. */
const complained = new Set(['echo three >&3', 'cat <&3', 'exec >&-']);

const deeds = [
  'kill',
  'kill 0',
  'kill SIGKILL',
  'kill nothing',
  'write',
  'write much',
  'end stdin',
  'end stdin with data',
  'destroy stdin',
  'destroy stdout',
  'destroy stderr',
  'destroy stdout with an error',
  'read stdout',
  'read stderr',
  'read all',
  'look at stdout',
  'look at all',
  'iterate stdout',
  'read by hand',
  'pause stdout',
  'resume stdout',
  'encode stdout',
  'unref',
  'ref',
  'unref all',
  'pid',
  'write three',
  'end three',
  'read three',
  'destroy three',
  'send',
  'disconnect',
  'pipe on',
  'pipe stdin',
  'remove listeners',
  'dispose',
] as const;

const moments: readonly Moment[] = [
  'now',
  'now',
  'now',
  'tick',
  'immediate',
  'spawn',
  'early',
  'late',
  'exit',
  'after exit',
];

export function generate(seed: number): Program {
  const random = new Random(seed);
  const count = random.chance(0.6) ? 1 : 1 + random.below(3);
  const children = Array.from({ length: count }, () => child(random));
  return { seed, isAlone: seed % 4 === 0 && !children.some(endsUnseen), children };
}

/** Whether Node's loop may be gone before the exit: the end of the last output and the exit race for it. */
function endsUnseen({ actions }: Child): boolean {
  return actions.some((action) => action.do.startsWith('unref'));
}

function child(random: Random): Child {
  const how = random.pick(['spawn', 'spawn', 'spawn', 'execFile', 'exec', 'ipc'] as const);
  const isCollected = how === 'execFile' || how === 'exec';
  const actions = Array.from({ length: random.below(5) }, () => {
    const action = { at: random.pick(moments), do: random.pick(deeds) };
    // Later, a part of the output has been read by this process, and how much is chance.
    return action.do === 'pipe on' ? { ...action, at: 'now' as const } : action;
  });
  const script = holdOutputAlone(random.some(lines, 4));
  const drawn: Child = {
    how,
    script,
    program: random.chance(0.9) ? 'sh' : random.pick(['missing', 'forbidden'] as const),
    stdio: isCollected || random.chance(0.5) ? undefined : stdio(random),
    options: options(random, isCollected),
    abort: random.chance(0.1) ? random.pick(['early', 'late', 'after exit'] as const) : undefined,
    actions,
  };
  // Whether a child that is killed at once, or by its first output, has written something by then is a race in Node too.
  const isKilledSoon = actions.some(races) || drawn.options['maxBuffer'] !== undefined;
  if (!isKilledSoon) return drawn;
  // A shell that cannot run its command complains at once, in three writes: Node's `exec` with `maxBuffer` 3 has read one of them in
  // half of 400 runs, and all three in the others.
  const program = how === 'exec' ? 'sh' : drawn.program;
  const late = { ...drawn, program, script: ['sleep 0.3', ...script] };
  if (drawn.options['maxBuffer'] === undefined) return late;
  // Beyond `maxBuffer` there is only the first read, and its length is chance: a second reader, or another complaint of the shell in
  // three writes, would make that an outcome.
  return {
    ...late,
    actions: actions.filter((action) => action.do !== 'read by hand'),
    script: late.script.filter((line) => !complained.has(line)),
  };
}

/** Has a process that may wait for room hold the output alone. */
function holdOutputAlone(script: readonly string[]): string[] {
  const fills = filling.some((line) => script.includes(line));
  const { line: waiting, alone } = waitsForRoom;
  return script.map((line) => (fills && line === waiting ? alone : line));
}

function races({ at, do: deed }: Action): boolean {
  const isSoon = at === 'now' || at === 'tick' || at === 'immediate' || at === 'spawn';
  return isSoon && /^(kill|dispose|destroy|end|disconnect|write|unref|pipe|send)/.test(deed);
}

function stdio(random: Random): string[] {
  const entries = ['pipe', 'pipe', 'pipe', 'ignore', 'file', 'overlapped'];
  return Array.from({ length: 3 + random.below(3) }, () => random.pick(entries));
}

function options(random: Random, isCollected: boolean): Record<string, unknown> {
  const chosen: Record<string, unknown> = {};
  if (random.chance(0.15)) chosen['timeout'] = random.pick([120, 2000]);
  if (random.chance(0.15)) chosen['killSignal'] = random.pick(['SIGKILL', 'SIGINT', 'SIGTERM', 9]);
  if (random.chance(0.1)) chosen['cwd'] = random.pick(['/', '/tmp', '/missing', '/etc/passwd']);
  if (random.chance(0.1)) chosen['env'] = { VALUE: 'set', PATH: '/usr/bin:/bin' };
  if (random.chance(0.1)) chosen['argv0'] = 'zero';
  if (isCollected && random.chance(0.3)) chosen['maxBuffer'] = random.pick([1, 3, 1000, 200_000]);
  if (isCollected && random.chance(0.3)) {
    chosen['encoding'] = random.pick(['buffer', 'latin1', 'hex', 'utf8']);
  }
  if (!isCollected && random.chance(0.1)) chosen['detached'] = true;
  if (!isCollected && random.chance(0.05)) chosen['serialization'] = 'advanced';
  return chosen;
}

/** Programs with a little less in them, the largest steps first. */
export function* smaller(program: Program): Generator<Program> {
  const { children } = program;
  for (const [index, one] of children.entries()) {
    const withChild = (other: Child) => ({ ...program, children: children.with(index, other) });
    if (children.length > 1) yield { ...program, children: children.toSpliced(index, 1) };
    if (one.stdio !== undefined) yield withChild({ ...one, stdio: undefined });
    if (one.abort !== undefined) yield withChild({ ...one, abort: undefined });
    for (let action = 0; action < one.actions.length; action++) {
      yield withChild({ ...one, actions: one.actions.toSpliced(action, 1) });
    }
    for (let line = 0; line < one.script.length; line++) {
      yield withChild({ ...one, script: one.script.toSpliced(line, 1) });
    }
    for (const key of Object.keys(one.options)) {
      const { [key]: _, ...rest } = one.options;
      yield withChild({ ...one, options: rest });
    }
  }
}
