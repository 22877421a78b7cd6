/** An answer of the service, over whatever it came. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body read as JSON; what it is, the case says. Undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a case asserts on whatever the service answers
  readonly json: any
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const answerOf = (status: number, headers: Answer['headers'], text: string): Answer => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  text,
  get json() {
    return parse(text)
  },
})

/** The code of a refusal; undefined where nothing is refused. */
export const codeOf = ({ json }: Answer): number | undefined => json?.code

/** Most cases compare these two. */
export const statusAndCode = (answer: Answer) => [answer.status, codeOf(answer)]
