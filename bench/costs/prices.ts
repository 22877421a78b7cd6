/** AWS's list prices in us-east-1 beyond any free tier, in US dollars for a million requests, units or seconds. */
export const prices = {
  /** REST API. */
  gatewayRequest: 3.5,
  functionRequest: 0.2,
  /** Lambda on arm64. */
  gigabyteSecond: 13.3334,
  /** DynamoDB on demand. A write to the directory costs this in every region that has a replica. */
  readUnit: 0.125,
  writeUnit: 0.625,
  /** S3: PUT, COPY, POST and LIST, the last two of which deletions in batches and listings are. Other deletions are free. */
  s3Write: 5,
  /** S3: GET and HEAD. */
  s3Read: 0.4,
  /** SQS, standard queue. */
  queueRequest: 0.4,
  /** A line of the gateway's log and one of the function's: about 1 KB at 0.50 for a GB. */
  logs: 0.5,
  /** What a warm function takes for a request, store included, in seconds. An assumption: it depends on what is stored. */
  assumedSeconds: 0.02,
  /** The same for one that works on files. */
  assumedSecondsWithFiles: 0.1,
} as const
