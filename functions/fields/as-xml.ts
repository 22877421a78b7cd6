/** Reads a body in XML. Loaded when the first caller sends some: most never do. */
export const asXml = async (text: string): Promise<unknown> =>
  (await import('../../lib/http/read-xml.ts')).readXml(text)
