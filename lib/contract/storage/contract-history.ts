import * as z from 'zod/mini'
import { changeTypes } from '../../core/history-entry.ts'
import { component, named, type OperationContract, ok, switchesOf, text } from '../contract.ts'
import { changesQuery } from './switches.ts'

const ofFiles = { names: z.array(z.string()), to: z.string(), version: z.string(), draft: z.boolean() }
const ids = z.array(z.int())

const change = component(
  'Change',
  'A change. Ids sort by time. `subject` is the path of a file or folder, or another name such as `form/1/field/-7` ' +
    'or `category/1/news/36`. `actor` is the user of the token. For a change by a command, `actor` is `admin:` and ' +
    'the user of the operating system, and `requestId` is null. `details` depends on the type and may be null. It ' +
    'has `names` or `count` for several files or versions, and `to` for a move or a copy.',
  {
    id: z.string(),
    at: z.iso.datetime(),
    type: named(z.enum(changeTypes), 'ChangeType'),
    subject: z.string(),
    actor: z.string(),
    requestId: z.nullable(z.string()),
    details: z.nullable(z.partial(z.looseObject({ ...ofFiles, count: z.int(), ids, categories: ids }))),
  },
)

const anyType = `(?:${changeTypes.map((type) => type.replace('.', '\\.')).join('|')})`
const severalTypes = z.string().check(z.regex(new RegExp(`^${anyType}(?:,${anyType})*$`)))

export const changePage = component(
  'ChangePage',
  'Changes, the oldest first, or with `before` the newest first. Send `next` as the `after` or `before` of ' +
    'the next request. `next` is null if there are no more changes.',
  { items: z.array(change), next: z.nullable(z.string()) },
)

export const changesOperation: OperationContract = {
  tag: {
    name: 'History',
    description: 'The changes of a site, with time and user. The service keeps each change for 90 days.',
  },
  summary: 'List the changes of a site',
  description:
    'Without `after`, the answer has the newest changes. With `after`, it has the changes after that change. To see ' +
    'each change once, send `next` as `after` of the next request; when `next` is null, repeat the request later ' +
    'with the same `after`. With `before`, the answer has the changes before that change, the newest first. To read ' +
    'further back, send `next` as `before` of the next request. With `type` or `subject`, an answer may be short or ' +
    'empty although `next` is set. Changes of a file or folder are shown only to tokens with a right to read it. A ' +
    'move or copy needs the right on both paths. With `wait`, the service answers as soon as a change is made, or ' +
    'with an empty list when the time is up. With `Accept: text/event-stream`, the answer is a stream of the changes ' +
    'as they happen, on one machine and with streaming; without `after`, it begins with the next change. The `id` of ' +
    'each event is the id of its change, and its `data` is the change. The service sends a comment every 15 seconds.',
  query: {
    after: text(
      'The `next` of an earlier answer, or the id of a change. With an empty value, the list begins with the oldest change.',
      '',
    ),
    before: text(
      'The `next` of an earlier answer, or the id of a change. With an empty value, the list begins with the newest change.',
      '',
    ),
    ...switchesOf(changesQuery, {
      limit: ['The largest number of changes in an answer, 100 by default.', 10],
      wait: ['With `after`: the number of seconds to wait for a change.', 1],
      type: [
        'Lists only changes of this type, or of several types, separated by commas.',
        'form.created,site.created',
        severalTypes,
      ],
      subject: ['Only changes whose subject begins with this text, such as `news/` for a folder.', 'form/', z.string()],
    }),
  },
  headers: {
    'Last-Event-ID': text(
      'The id of the last event of an interrupted stream. The new stream continues after this event.',
      '',
    ),
  },
  answers: ok('The changes.', changePage, {
    // Generated clients read the answer as the first of these types.
    mediaTypes: ['application/json', 'text/event-stream'],
    optionalHeaders: ['Cache-Control', 'X-Accel-Buffering'],
  }),
  errors: ['storageRefused', 'tooManyRequests'],
  examples: [
    { query: { after: '', limit: '2' } },
    { query: { before: '', limit: '2' } },
    { query: { after: '', type: 'site.created' }, headers: { Accept: 'text/event-stream' } },
  ],
}
