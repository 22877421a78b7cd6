import type { Answer } from '../../support/answer.ts'

/** The names and times of one site in both stores. */
export const createKnowledge = () => {
  /** Maps path and name on one machine to the name on AWS. */
  const names = new Map<string, string>()
  /** The times at which files were moved, in milliseconds. */
  const moves = new Set<number>()
  const move = (now: number): void => {
    moves.add(now)
    // On one machine a restored file keeps the name of its version.
    names.clear()
  }
  return { names, moves, move }
}
type Knowledge = ReturnType<typeof createKnowledge>
/** `path` is the path that the request names. */
type Asked = Knowledge & { readonly path: string }

// Each store has its own tags (S-70), versions (H-15), ids of changes (H-1) and cursors. If two names of one path are
// equal on one machine, they must be equal on AWS. A moved file keeps its names only on one machine. On AWS, equal
// bytes have equal tags.
const ownName = /\.(etag|version|id|next|cursor)$/

/** The address of a resumable upload. */
const isUploadAddress = (place: string, text: string): boolean =>
  place === '.headers.location' && /\/uploads\/\w+$/.test(text)

const ownTime = /\.(lastModified|last-modified|at)$/

/** A moved file has the time of the move on AWS, and keeps its own time on one machine (S-107). */
const isMoved = (machine: string, aws: string, { moves }: Knowledge): boolean =>
  Date.parse(machine) < Date.parse(aws) && moves.has(Date.parse(aws))

/** Members of an object, or items of a list, by name. */
const partsOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null ? { ...value } : undefined

const isFolder = (value: unknown): boolean => partsOf(value)?.['type'] === 'folder'

const isOfTemplate = (message: unknown): boolean => /^templates\/.*: The template /i.test(String(message))

const differences = (machine: unknown, aws: unknown, asked: Asked, place = ''): readonly string[] => {
  const [here, there] = [partsOf(machine), partsOf(aws)]
  if (here && there) {
    return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((name) => {
      // On AWS, a move creates the folder again, so lists may leave out the time of the folder (S-75).
      if (name === 'lastModified' && isFolder(here) && isFolder(there)) return []
      return differences(here[name], there[name], asked, `${place}.${name}`)
    })
  }
  if (
    typeof machine === 'string' &&
    typeof aws === 'string' &&
    (ownName.test(place) || isUploadAddress(place, machine))
  ) {
    const name = `${asked.path} ${machine}`
    const first = asked.names.get(name) ?? aws
    asked.names.set(name, first)
    return first === aws ? [] : [`${place}: on AWS, ${machine} was ${first} before, and is ${aws} now`]
  }
  if (typeof machine === 'string' && typeof aws === 'string' && ownTime.test(place) && isMoved(machine, aws, asked))
    return []
  // If several files are refused as templates, the message names the template that was read first (S-26).
  if (place === '.body.message' && isOfTemplate(machine) && isOfTemplate(aws)) return []
  const text = (value: unknown) => JSON.stringify(value)?.slice(0, 300)
  return machine === aws ? [] : [`${place}: ${text(machine)} on one machine, ${text(aws)} on AWS`]
}

const viewOf = ({ status, headers, text, json }: Answer) => {
  const isJson = headers['content-type']?.startsWith('application/json')
  return { status, headers, body: isJson ? json : text }
}

/** Returns the answer of both stores. Throws an Error that names the differences. */
export const compareAnswers = ([machine, aws]: readonly Answer[], asked: Asked): Answer => {
  if (!machine || !aws) throw new Error('Two stores answer')
  const found = differences(viewOf(machine), viewOf(aws), asked)
  if (found.length > 0) throw new Error(`The stores differ (${machine.status}, ${aws.status}):\n${found.join('\n')}`)
  return aws
}
