export interface Answer {
  readonly status: number
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body parsed as JSON, with a type that the case chooses. Undefined if it is not JSON. */
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

export const codeOf = ({ json }: Answer): number | undefined => json?.code

export const statusAndCode = (answer: Answer) => [answer.status, codeOf(answer)]
