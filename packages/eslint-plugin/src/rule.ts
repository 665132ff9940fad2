import type { Rule } from 'eslint';
import type * as ESTree from 'estree';
import { type Context, selfAndAncestors } from './ast/node.ts';

export type RuleModule = Rule.RuleModule;

export interface RuleFacts {
  name: string;
  /** The advice in one sentence without a full stop, as a tool would report it for a line. */
  advice: string;
  /** The text of a report, in place of the advice, with the names of its data in double braces. */
  message?: string;
  /** True if the rule rewrites code in place when results are certain to stay the same. */
  fixes?: true;
}

export type Edit = (fixer: Rule.RuleFixer) => Rule.Fix | Rule.Fix[];

/** `fix` is for rewrites that keep every result; `suggest` for all others, which the user decides on. */
export type Report = (
  node: ESTree.Node,
  rewrite?: { fix: Edit } | { suggest: Edit },
  /** Values for the names in the message of the rule. */
  data?: Record<string, string>,
) => void;

/** Defines a rule in the form shared by all rules here: one message, and at most one rewrite for it. */
export function defineRule(
  { name, advice, message, fixes }: RuleFacts,
  create: (report: Report, context: Context) => Rule.RuleListener,
): RuleModule {
  return {
    meta: {
      type: 'suggestion',
      docs: {
        description: advice,
        url: `https://github.com/redline/redline/blob/main/packages/eslint-plugin/src/rules/${name}/page.md`,
      },
      ...(fixes && { fixable: 'code' }),
      hasSuggestions: true,
      schema: [],
      messages: { found: message ?? sentence(advice), rewrite: 'Rewrite it so.' },
    },
    create(context) {
      const report: Report = (node, rewrite = undefined, data = {}) => {
        const edit = rewrite && ('fix' in rewrite ? rewrite.fix : rewrite.suggest);
        const isFixed = rewrite && 'fix' in rewrite && isSafeInPlace(context, node);
        context.report({
          node,
          messageId: 'found',
          data,
          ...(isFixed && { fix: edit }),
          ...(edit && !isFixed && { suggest: [{ messageId: 'rewrite', fix: edit }] }),
        });
      };
      return create(report, context);
    },
  };
}

/**
 * Returns false if a rewrite would lose a comment, use newer syntax than the surrounding code, or begin a statement: the user has
 * to decide then.
 */
function isSafeInPlace({ sourceCode, languageOptions }: Context, node: ESTree.Node): boolean {
  if (sourceCode.getCommentsInside(node).length > 0) return false;
  const version = languageOptions?.ecmaVersion ?? 2018;
  if (typeof version === 'number' && version < 2018) return false;
  // Without semicolons the statement above would continue here: `a\n(b)` is a call.
  return ![...selfAndAncestors(node)].some(
    ({ type, range }) => type === 'ExpressionStatement' && range![0] === node.range![0],
  );
}

function sentence(advice: string): string {
  return `${advice[0]!.toUpperCase()}${advice.slice(1)}.`;
}
