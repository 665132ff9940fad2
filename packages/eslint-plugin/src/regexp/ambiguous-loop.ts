import { type AST, visitRegExpAST } from '@eslint-community/regexpp';
import { JS, NFA, type ReadonlyNFA, Words } from 'refa';
import type { ParsedLiteral } from 'scslre';

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
