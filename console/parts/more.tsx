import { texts } from '../texts/texts.ts'

interface MoreProps {
  readonly facts: readonly (readonly [name: string, value: string])[]
}

/** Shows facts that only programs and administrators need. */
export const More = ({ facts }: MoreProps) => (
  <details class="more">
    <summary>{texts.value.moreFacts}</summary>
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="mono">{value}</dd>
        </div>
      ))}
    </dl>
  </details>
)
