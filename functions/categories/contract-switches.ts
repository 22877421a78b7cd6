import * as z from 'zod/mini'
import type { ItemShape, Member, MemberType } from '../../lib/categories/query/item-shape.ts'
import { largestLimit, standardLimit } from '../../lib/categories/query/list-query.ts'
import { deepestWhere, longestWhere, mostConditions } from '../../lib/categories/query/where.ts'
import type { ParameterContracts } from '../contract.ts'

const numericString = z.string().check(z.regex(/^-?\d{1,15}(\.\d{1,15})?$/))
const formatted = (format: string) => z.string().register(z.globalRegistry, { format })

/** What a member may be compared with. */
const operands = {
  integer: z.union([z.number(), numericString, z.null()]),
  flag: z.union([z.number(), z.boolean(), numericString, z.null()]),
  string: z.union([z.string(), z.number(), z.null()]),
  boolean: z.union([z.boolean(), z.literal([0, 1]), z.literal(['true', 'false', '0', '1']), z.null()]),
  date: z.union([formatted('date'), formatted('date-time'), z.null()]),
} as const satisfies Record<Exclude<MemberType, 'text'>, z.core.$ZodType>

const textOperand = z.union([z.string(), z.number(), z.null()])

const conditionOn = (operand: z.core.$ZodType) => {
  const each = (names: readonly string[], schema: z.core.$ZodType) =>
    Object.fromEntries(names.map((name) => [name, z.optional(schema)]))
  const operators = z
    .strictObject({
      ...each(['$eq', '$ne', '$neq', '$lt', '$lte', '$gt', '$gte'], operand),
      ...each(['$in', '$nin'], z.array(operand)),
      ...each(['$beginsWith', '$contains'], textOperand),
    })
    .register(z.globalRegistry, { minProperties: 1 })
  return z.union([operand, operators])
}

const conditions = {
  integer: conditionOn(operands.integer).register(z.globalRegistry, { id: 'NumberCondition' }),
  flag: conditionOn(operands.flag).register(z.globalRegistry, { id: 'FlagCondition' }),
  string: conditionOn(operands.string).register(z.globalRegistry, { id: 'StringCondition' }),
  boolean: conditionOn(operands.boolean).register(z.globalRegistry, { id: 'BooleanCondition' }),
  date: conditionOn(operands.date).register(z.globalRegistry, { id: 'DateCondition' }),
} as const

/** Every name of a member that conditions and orders know: own ones, dotted ones, bare ones of the object inside. */
const comparable = ({ own, objects }: ItemShape): Map<string, keyof typeof conditions> => {
  const named = (entries: readonly [string, Member][]) =>
    entries.flatMap(([name, { type }]) => (type === 'text' ? [] : [[name, type] as const]))
  const inner = objects
    .filter(({ standard }) => standard)
    .flatMap(({ name: object, members }) =>
      Object.entries(members).flatMap(([name, member]): [string, Member][] => [
        [`${object}.${name}`, member],
        [name, member],
      ]),
    )
  return new Map(named([...inner, ...Object.entries(own)]))
}

const whereOf = (shape: ItemShape, id: string): z.core.$ZodType => {
  const members = [...comparable(shape)].map(([name, type]) => [name, z.optional(conditions[type])] as const)
  const where: z.core.$ZodType = z
    .strictObject({
      ...Object.fromEntries(members),
      get $and(): z.core.$ZodType {
        return z.optional(z.array(where).check(z.minLength(1)))
      },
      get $or(): z.core.$ZodType {
        return z.optional(z.array(where).check(z.minLength(1)))
      },
    })
    .register(z.globalRegistry, { id, description: 'Conditions on members; several together must all hold.' })
  return where
}

const orderOf = (shape: ItemShape) => {
  const name = `-?(${[...comparable(shape).keys()].map((member) => member.replace('.', '\\.')).join('|')})`
  return z.string().check(z.regex(new RegExp(`^(${name}(,${name})*)?$`)))
}

/** An empty switch counts as absent. */
const countOrNothing = z.union([z.int().check(z.minimum(0)), z.literal('')])

/** The switch that narrows items; other switches do nothing to a single one, but are read. */
export const fieldsSwitch = (example: string): ParameterContracts => ({
  fields: {
    description:
      'The members to show, separated by commas; `news(subject,slug)` and `news.subject` narrow an object. Unknown names are ignored.',
    schema: z.string(),
    example,
  },
})

/** The query switches of a list (decisions.md, section 4). `where` is JSON; single quotes and unquoted keys are understood as well. */
export const listSwitches = (
  shape: ItemShape,
  { id, fields, where, order }: { id: string; fields: string; where: string; order: string },
): ParameterContracts => ({
  ...fieldsSwitch(fields),
  where: {
    description: `Shows only what fulfils the conditions: at most ${longestWhere} characters, ${mostConditions} conditions, ${deepestWhere} levels of \`$and\` and \`$or\`. Strings compare without case.`,
    schema: whereOf(shape, id),
    json: true,
    example: where,
  },
  order: {
    description: 'The members to sort by, separated by commas; `-` in front is descending. Ties go by id.',
    schema: orderOf(shape),
    example: order,
  },
  skip: { description: 'How many items to leave out at the start.', schema: countOrNothing, example: 0 },
  limit: {
    description: `How many items a page has, ${standardLimit} unless given. Over ${largestLimit} counts as ${largestLimit}.`,
    schema: countOrNothing,
    example: 2,
  },
  cursor: {
    description: 'Empty at the start, then the `nextCursor` of the page before. Does not go together with `skip`.',
    schema: z.string(),
    example: '',
  },
  count: {
    description: '`true` counts the whole list when paging by `cursor`; anything else does not.',
    schema: z.string(),
    example: 'true',
  },
})
