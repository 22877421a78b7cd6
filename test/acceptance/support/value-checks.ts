import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readXmlBy, type Schema } from './xml-by-schema.ts'

/** Checks values against schemas of these components. Each check throws an Error that names the difference. */
export const createValueChecks = (schemas: Readonly<Record<string, Schema>>) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const compiled = new WeakMap<object, ValidateFunction>()

  const validatorOf = (schema: Schema): ValidateFunction => {
    const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components: { schemas } })
    compiled.set(schema, validate)
    return validate
  }

  const checkValue = (schema: Schema, value: unknown, what: string): void => {
    const validate = validatorOf(schema)
    if (!validate(value)) throw new Error(`${what} differs from the document: ${ajv.errorsText(validate.errors)}`)
  }

  return {
    checkValue,
    /** Checks the body of an answer with this media type. A body whose schema is a string is text or bytes. */
    checkText: (type: string, schema: Schema, text: string): void => {
      const isText = schema.type === 'string'
      const value = type === 'application/xml' ? readXmlBy(schema, text, schemas) : isText ? text : JSON.parse(text)
      checkValue(schema, value, 'The body')
    },
  }
}
