import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Published {
  Message: string;
  MessageAttributes: Record<string, string>;
  MessageDeduplicationId?: string | undefined;
}

/**
 * What of SNS a publisher sees, as AWS documents it: PublishBatch over the query protocol, with at most ten entries and
 * 256 KiB in a call, an answer for each entry, and deduplication on FIFO topics. There is no SNS server to be had.
 */
export interface SnsFake {
  readonly url: string;
  topic(arn: string): Published[];
  begin(): Promise<void>;
  end(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSnsFake(): Promise<SnsFake> {
  const topics = new Map<string, Published[]>();
  const topic = (arn: string): Published[] => {
    if (!topics.has(arn)) topics.set(arn, []);
    return topics.get(arn)!;
  };
  let server: Server;
  let port = 0;
  const listen = async (): Promise<void> => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      request.on('end', () => {
        const { status, xml } = answer(new URLSearchParams(body), topic);
        response.writeHead(status, { 'content-type': 'text/xml' });
        response.end(xml);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  };
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen();
  return { url: `http://127.0.0.1:${port}`, topic, begin: close, end: listen, stop: close };
}

function answer(
  query: URLSearchParams,
  topic: (arn: string) => Published[],
): { status: number; xml: string } {
  const entries = readEntries(query);
  const arn = query.get('TopicArn')!;
  const bytes = entries.reduce((sum, { Message }) => sum + Buffer.byteLength(Message), 0);
  if (query.get('Action') !== 'PublishBatch') return fault('InvalidAction', 'only PublishBatch');
  if (entries.length > 10)
    return fault('TooManyEntriesInBatchRequest', `${entries.length} entries`);
  if (bytes > 262_144) return fault('BatchRequestTooLong', `${bytes} bytes`);
  const failed: string[] = [];
  const successful: string[] = [];
  for (const { Id, ...entry } of entries) {
    const isRefused = entry.MessageAttributes['defer-job'] === 'refused';
    if (isRefused) {
      failed.push(
        `<member><Id>${Id}</Id><Code>InvalidParameter</Code><SenderFault>true</SenderFault><Message>no</Message></member>`,
      );
      continue;
    }
    const isDuplicate =
      arn.endsWith('.fifo') &&
      topic(arn).some((each) => each.MessageDeduplicationId === entry.MessageDeduplicationId);
    if (!isDuplicate) topic(arn).push(entry);
    successful.push(`<member><Id>${Id}</Id><MessageId>m-${Id}</MessageId></member>`);
  }
  return {
    status: 200,
    xml: `<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult><Failed>${failed.join('')}</Failed><Successful>${successful.join('')}</Successful></PublishBatchResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></PublishBatchResponse>`,
  };
}

function readEntries(query: URLSearchParams): (Published & { Id: string })[] {
  const entries: (Published & { Id: string })[] = [];
  for (let i = 1; ; i++) {
    const at = `PublishBatchRequestEntries.member.${i}`;
    const Id = query.get(`${at}.Id`);
    if (Id === null) return entries;
    const MessageAttributes: Record<string, string> = {};
    for (let a = 1; query.has(`${at}.MessageAttributes.entry.${a}.Name`); a++) {
      const place = `${at}.MessageAttributes.entry.${a}`;
      MessageAttributes[query.get(`${place}.Name`)!] = query.get(`${place}.Value.StringValue`)!;
    }
    entries.push({
      Id,
      Message: query.get(`${at}.Message`)!,
      MessageAttributes,
      MessageDeduplicationId: query.get(`${at}.MessageDeduplicationId`) ?? undefined,
    });
  }
}

function fault(code: string, message: string): { status: number; xml: string } {
  return {
    status: 400,
    xml: `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
  };
}
