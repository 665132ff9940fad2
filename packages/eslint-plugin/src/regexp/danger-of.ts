import { RegExpParser, type AST, visitRegExpAST } from '@eslint-community/regexpp';
import { analyse, type Report, type ParsedLiteral } from 'scslre';
import { JS, NFA, type ReadonlyNFA, Words } from 'refa';

/** A regular expression whose time grows faster than the text it is matched against. */
export interface Danger {
  growth: 'exponential' | 'polynomial';
  /** The repeated text that takes the time, if one follows that the expression does not match. */
  repeated: string;
  /** Set if the repetition has a search from each start in the text as its cause, not backtracking: always polynomial. */
  bySearching?: true;
}

/** A longer expression is generated, and takes longer to judge than a linter has. */
const maxLength = 2_000;

/**
 * Returns how a regular expression can be made slow by a text; undefined if no way is found. Judged by its syntax alone: nothing
 * is run.
 */
export function dangerOf(source: string, flags: string): Danger | undefined {
  if (source.length > maxLength) return undefined;
  try {
    const parser = new RegExpParser();
    const unicode = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') };
    const parsed = {
      pattern: parser.parsePattern(source, 0, source.length, unicode),
      flags: parser.parseFlags(flags),
    };
    const reports = analyse(parsed).reports.toSorted((a, b) => rankOf(b) - rankOf(a));
    const [worst] = reports;
    if (worst?.exponential !== true) {
      const loop = ambiguousLoop(parsed);
      if (loop !== undefined) return { growth: 'exponential', repeated: loop };
    }
    if (worst === undefined) return undefined;
    return {
      growth: worst.exponential ? 'exponential' : 'polynomial',
      repeated: worst.character.pick,
      ...(worst.type === 'Move' ? { bySearching: true as const } : {}),
    };
  } catch {
    // Syntax that the parser or the automata do not know.
    return undefined;
  }
}

/** Describes the text that takes the time, for a sentence. */
export function attackText({ repeated }: Danger): string {
  return `${JSON.stringify(repeated)} many times over, followed by what it does not match`;
}

function rankOf({ exponential, type }: Report): number {
  return exponential ? 2 : type === 'Move' ? 0 : 1;
}

type Group = AST.Group | AST.CapturingGroup;

/** An automaton with more states takes too long. */
const maxNodes = 2_000;

/**
 * Finds a repeated group that reads the same text in several ways, such as `(a|aa)+` or `(a|\w)*`, where what follows can fail:
 * then each repetition of that text doubles the ways to try. Returns the text. The analysis of `scslre` finds the loops within a
 * loop; this finds the choices within one.
 */
export function ambiguousLoop(literal: ParsedLiteral): string | undefined {
  const parser = JS.Parser.fromAst(literal);
  const nfaOf = (element: Group | AST.Alternative): NFA => {
    const { expression, maxCharacter } = parser.parseElement(element, {
      assertions: 'disable',
      backreferences: 'disable',
    });
    const nfa = NFA.fromRegex(
      expression,
      { maxCharacter },
      {},
      new NFA.LimitedNodeFactory(maxNodes),
    );
    nfa.withoutEmptyWord();
    return nfa;
  };
  let found: string | undefined;
  visitRegExpAST(literal.pattern, {
    onQuantifierEnter({ max, element }) {
      if (found !== undefined || max !== Infinity || !isGroup(element)) return;
      if (!canFailAfter(element)) return;
      const once = nfaOf(element);
      const severalTimes = once.copy(new NFA.LimitedNodeFactory(maxNodes));
      severalTimes.quantify(2, Infinity);
      found = commonWord(once, severalTimes);
      for (const group of groupsIn(element)) found ??= commonChoice(group.alternatives.map(nfaOf));
    },
  });
  return found;
}

/** Returns a text that two of the alternatives match. */
function commonChoice(all: readonly NFA[]): string | undefined {
  for (const [index, first] of all.entries()) {
    for (const second of all.slice(index + 1)) {
      const word = commonWord(first, second);
      if (word !== undefined) return word;
    }
  }
  return undefined;
}

function commonWord(first: ReadonlyNFA, second: ReadonlyNFA): string | undefined {
  const both = NFA.fromIntersection(first, second, new NFA.LimitedNodeFactory(maxNodes));
  for (const set of both.wordSets()) {
    return Words.fromUnicodeToString(Words.pickMostReadableWord(set) ?? []);
  }
  return undefined;
}

function isGroup(node: AST.Node): node is Group {
  return node.type === 'Group' || node.type === 'CapturingGroup';
}

/** Returns the group and those it consists of, with more than one alternative. */
function groupsIn(outer: Group): Group[] {
  const groups: Group[] = [];
  const add = (group: Group): void => void (group.alternatives.length > 1 && groups.push(group));
  visitRegExpAST(outer, { onGroupEnter: add, onCapturingGroupEnter: add });
  return groups;
}

/** True if something after a node may not match: without that, the first way is taken and no other is tried. */
function canFailAfter(node: AST.Node): boolean {
  for (let at = node; at.parent !== null && at.parent !== undefined; at = at.parent as AST.Node) {
    // A lookaround that matched is not entered again.
    if (at.type === 'Assertion') return false;
    const { parent } = at;
    if (parent.type !== 'Alternative') continue;
    const next = parent.elements.slice(parent.elements.indexOf(at as AST.Element) + 1);
    if (next.some(canFail)) return true;
  }
  return false;
}

function canFail(element: AST.Element): boolean {
  switch (element.type) {
    case 'Quantifier':
      return element.min > 0 && canFail(element.element);
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives.every(({ elements }) => elements.some(canFail));
    default:
      return true;
  }
}
