/**
 * the client secrets by the id of their issuer. Throws an Error that begins with `place`, and does not contain the
 * text.
 */
export const readClientSecrets = (text: string, place = ''): ReadonlyMap<string, string> => {
  const fault = `${place}must be a JSON object with the client secret of each issuer by its id, such as {"work": "…"}`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(fault)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(fault)
  const secrets = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  if (secrets.length < Object.keys(value).length) throw new Error(fault)
  return new Map(secrets)
}
