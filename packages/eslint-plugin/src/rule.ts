import type { Rule } from 'eslint';
import type * as ESTree from 'estree';
import type { Context } from './ast/node.ts';

export type RuleModule = Rule.RuleModule;

export interface RuleFacts {
  name: string;
  /** The advice in one sentence without a full stop, as a tool would say it of a line. */
  advice: string;
  /** The rule rewrites code in place where it can be sure that results stay the same. */
  fixes?: true;
}

export type Edit = (fixer: Rule.RuleFixer) => Rule.Fix | Rule.Fix[];

/** `fix` is for rewrites that keep every result; `suggest` for all others, a person decides. */
export type Report = (node: ESTree.Node, rewrite?: { fix: Edit } | { suggest: Edit }) => void;

/** A rule in the form all rules here have: one message, and at most one rewrite for it. */
export function defineRule(
  { name, advice, fixes }: RuleFacts,
  create: (report: Report, context: Context) => Rule.RuleListener,
): RuleModule {
  return {
    meta: {
      type: 'suggestion',
      docs: {
        description: advice,
        url: `https://github.com/redline/redline/blob/main/packages/eslint-plugin/docs/rules/${name}.md`,
      },
      ...(fixes && { fixable: 'code' }),
      hasSuggestions: true,
      schema: [],
      messages: { found: `${sentence(advice)}`, rewrite: 'Rewrite it so.' },
    },
    create(context) {
      const report: Report = (node, rewrite = undefined) => {
        context.report({
          node,
          messageId: 'found',
          ...(rewrite && 'fix' in rewrite && { fix: rewrite.fix }),
          ...(rewrite &&
            'suggest' in rewrite && { suggest: [{ messageId: 'rewrite', fix: rewrite.suggest }] }),
        });
      };
      return create(report, context);
    },
  };
}

function sentence(advice: string): string {
  return `${advice[0]!.toUpperCase()}${advice.slice(1)}.`;
}
