import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';
import { findOnPath } from './find-on-path.ts';

const run = promisify(execFile);
const oldestJava = 17;
const downloadTimeoutMs = 300_000;
/** Full name, which pins the version. */
const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/** Fast to start and small, but slow later: these servers are not measured. */
export const javaOptions: string[] = [
  '-Xmx256m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
];

/** A server written in Java: the `java` program and a class path. */
export interface JavaProgram {
  java: string;
  classPath: string;
}

/**
 * Returns the program of a server from Maven, or the reason why it is missing.
 *
 * The jars of `jars/NAME/pom.xml` come from the cache folder; Maven downloads them the first time and verifies each against
 * its checksum.
 */
export async function obtainJavaProgram(
  name: 'kafka' | 'elasticmq',
  onDownload: () => void = () => {},
): Promise<JavaProgram | { missing: string }> {
  const java = findOnPath('java');
  if (java === undefined) return { missing: lacks('java', 'default-jre-headless') };
  const version = await javaVersion(java);
  if (version < oldestJava) {
    return { missing: `${name} needs Java ${oldestJava}; ${java} is version ${version}.` };
  }
  const pom = join(import.meta.dirname, '..', 'jars', name, 'pom.xml');
  const folder = cacheFolder();
  const text = await readFile(pom, 'utf8');
  const list = join(folder, `${name}-${versionIn(text)}.classpath`);
  const known = await readClassPath(list);
  if (known !== undefined) return { java, classPath: known };
  const mvn = findOnPath('mvn');
  if (mvn === undefined) return { missing: lacks('mvn', 'maven') };
  onDownload();
  const fresh = `${list}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true });
    const options = ['--batch-mode', '--quiet', '--strict-checksums', '--file', pom];
    const repository = `-Dmaven.repo.local=${join(folder, 'maven')}`;
    const goal = [`${plugin}:build-classpath`, `-Dmdep.outputFile=${fresh}`];
    await run(mvn, [...options, repository, ...goal], { timeout: downloadTimeoutMs });
    await rename(fresh, list);
  } catch (error) {
    const reason =
      (error as { stdout?: string }).stdout?.split('\n')[0] || (error as Error).message;
    return { missing: `Maven could not get the jars of ${name}: ${reason}` };
  }
  const classPath = await readClassPath(list);
  if (classPath === undefined) return { missing: `Maven left no jars of ${name} in ${folder}.` };
  return { java, classPath };
}

async function readClassPath(list: string): Promise<string | undefined> {
  try {
    const classPath = (await readFile(list, 'utf8')).trim();
    return classPath.split(delimiter).every((jar) => existsSync(jar)) ? classPath : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the version of the first dependency, which is the server itself. */
function versionIn(pom: string): string {
  return /<dependency>[^]*?<version>(.*?)<\/version>/.exec(pom)![1]!;
}

async function javaVersion(java: string): Promise<number> {
  const { stderr } = await run(java, ['-version']);
  return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0);
}

function lacks(program: string, debianPackage: string): string {
  return `${program} is not installed: run "sudo apt-get install ${debianPackage}".`;
}
