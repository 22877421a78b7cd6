/** What CloudFormation is told of a resource of the deployment's own. */
export interface DeploymentAnswer {
  readonly Status: string
  readonly Reason?: string
  readonly PhysicalResourceId: string
  readonly StackId: string
  readonly RequestId: string
  readonly LogicalResourceId: string
}

/** How long CloudFormation's URL may take, in milliseconds: less than the function has left by then. */
const patience = 10_000

/**
 * Puts the answer to the URL of the event. Throws when it does not arrive there: Lambda then tries the whole event again, and
 * nobody waits an hour for an answer that was lost.
 */
export const answerDeployment = async (url: string, answer: DeploymentAnswer, timeLimit = patience): Promise<void> => {
  const { ok, status } = await fetch(url, {
    method: 'PUT',
    // The URL is signed for a request without a content type.
    headers: { 'Content-Type': '' },
    body: JSON.stringify(answer),
    signal: AbortSignal.timeout(timeLimit),
  })
  // The URL itself stays out of the log: whoever has it can answer.
  if (!ok) throw new Error(`CloudFormation did not take the answer: status ${status}`)
}
