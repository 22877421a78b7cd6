import type { ComponentChildren } from 'preact'
import { viewTexts } from '../texts/view-texts.ts'

interface TableProps {
  readonly label: string
  readonly columns: readonly string[]
  /** True if the last cell of each row contains the actions. */
  readonly hasActions?: boolean
  readonly children: ComponentChildren
}

export const Table = ({ label, columns, hasActions = true, children }: TableProps) => (
  <table class="items" aria-label={label}>
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column} scope="col">
            {column}
          </th>
        ))}
        {hasActions && (
          <th class="items-more">
            <span class="unseen">{viewTexts.value.more}</span>
          </th>
        )}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)
