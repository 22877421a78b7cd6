import * as z from 'zod/mini'
import { largestLimit, standardLimit } from '../../categories/query/list-query.ts'
import { deepestWhere, longestWhere, mostConditions } from '../../categories/query/where.ts'
import type { ItemShape, Members } from '../../core/item-shape.ts'
import { type ParameterContracts, parameter, text } from '../contract.ts'

/** Every name of a member that conditions and orders know: own ones, dotted ones, bare ones of the object inside. */
const comparable = ({ own, objects }: ItemShape): string[] => {
  const named = (members: Members) => Object.keys(members).filter((name) => members[name]?.type !== 'text')
  const inner = objects
    .filter(({ standard }) => standard)
    .flatMap(({ name: object, members }) => named(members).flatMap((name) => [`${object}.${name}`, name]))
  return [...new Set([...inner, ...named(own)])]
}

const orderOf = (shape: ItemShape) => {
  const name = `-?(${comparable(shape)
    .map((member) => member.replace('.', '\\.'))
    .join('|')})`
  return z.string().check(z.regex(new RegExp(`^(${name}(,${name})*)?$`)))
}

const count = z.int().check(z.minimum(0))

/** The switch that narrows items; other switches do nothing to a single one, but are read. */
export const fieldsSwitch = (example: string): ParameterContracts => ({
  fields: {
    description:
      'The members to show, separated by commas; `news(subject,slug)` and `news.subject` narrow an object. Unknown names are ignored.',
    schema: z.string(),
    example,
  },
})

const whereDescription =
  'Shows only what fulfils all of the conditions: the text of a JSON object, by the names of members that `order` knows. A value asks for equality, ' +
  'and an object for `$eq`, `$ne`, `$neq`, `$lt`, `$lte`, `$gt`, `$gte`, `$in`, `$nin`, `$beginsWith` or `$contains`; `$and` and `$or` hold an array of ' +
  'such objects. Strings compare without case. Single quotes and keys without quotes are understood as well (JSON5). ' +
  `At most ${longestWhere} characters, ${mostConditions} conditions, ${deepestWhere} levels of \`$and\` and \`$or\`.`

/** The query switches of a list (decisions.md, section 4). */
export const listSwitches = (
  shape: ItemShape,
  { fields, where, order }: { fields: string; where: string; order: string },
): ParameterContracts => ({
  ...fieldsSwitch(fields),
  where: {
    description: whereDescription,
    schema: z.string().check(z.maxLength(longestWhere)),
    example: where,
  },
  order: parameter(
    'The members to sort by, separated by commas; `-` in front is descending. Ties go by id.',
    order,
    orderOf(shape),
  ),
  skip: parameter('How many items to leave out at the start.', 0, count),
  limit: parameter(
    `How many items a page has, ${standardLimit} unless given. Over ${largestLimit} counts as ${largestLimit}.`,
    2,
    count,
  ),
  cursor: text('Empty at the start, then the `nextCursor` of the page before. Does not go together with `skip`.', ''),
  count: text('`true` counts the whole list when paging by `cursor`; anything else does not.', 'true'),
})
