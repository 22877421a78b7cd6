import type { Shown } from './examples.ts'
import type { Node } from './json.ts'

/** The example of a body in a media type: of that very type, or, where any will do, of one that has no place of its own. */
const exampleOf = (bodies: readonly (Shown | undefined)[], mediaType: string, places: readonly string[]): Node => {
  const found = bodies.find(
    (body) =>
      body?.mediaType === mediaType || (mediaType === '*/*' && body !== undefined && !places.includes(body.mediaType)),
  )
  if (!found) return {}
  return 'value' in found.example ? { example: found.example.value } : { examples: { output: found.example } }
}

/** Puts its example beside each media type. */
export const withExamples = (content: Readonly<Record<string, Node>>, bodies: readonly (Shown | undefined)[]): Node => {
  const places = Object.keys(content)
  return Object.fromEntries(
    Object.entries(content).map(([mediaType, described]) => [
      mediaType,
      { ...described, ...exampleOf(bodies, mediaType, places) },
    ]),
  )
}
