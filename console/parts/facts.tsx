import { texts } from '../texts/texts.ts'

interface FactsProps {
  /** Facts with an empty value are not shown. */
  readonly facts: readonly (readonly [name: string, value: string | null | undefined])[]
  readonly kind?: 'mono'
}

export const Facts = ({ facts, kind }: FactsProps) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class={kind}>{value}</dd>
        </div>
      ))}
  </dl>
)

/** Shows facts that only programs and administrators need. */
export const More = ({ facts }: Pick<FactsProps, 'facts'>) => (
  <details class="more">
    <summary>{texts.value.moreFacts}</summary>
    <Facts facts={facts} kind="mono" />
  </details>
)
