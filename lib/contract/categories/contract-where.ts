import * as z from 'zod/mini'
import { longestWhere } from '../../categories/query/where.ts'
import { named } from '../contract.ts'

const operand = z.union([z.string(), z.number(), z.boolean(), z.null()])
const part = z.union([z.string(), z.number(), z.null()])
const [one, some, text] = [z.optional(operand), z.optional(z.array(operand)), z.optional(part)]

const operators = named(
  z.strictObject({
    $eq: one,
    $ne: one,
    $neq: one,
    $lt: one,
    $lte: one,
    $gt: one,
    $gte: one,
    $in: some,
    $nin: some,
    $beginsWith: text,
    $contains: text,
  }),
  'WhereOperators',
  'Conditions on a member. The member must meet all of them.',
)

const branches = z.optional(z.array(z.lazy((): z.core.$ZodType => where)).check(z.minLength(1)))

/** C-28 to C-36. */
export const where = named(
  z.catchall(z.object({ $and: branches, $or: branches }), z.union([operand, operators])),
  'Where',
  'The value of `where`. Its keys besides `$and` and `$or` are the members that `order` accepts, each ' +
    'with a value or operators.',
)

export const whereText = z.string().check(z.maxLength(longestWhere))
// The schema cannot refer to itself, because the reference page would resolve the reference again and again.
whereText.register(z.globalRegistry, { contentMediaType: 'application/json' })
