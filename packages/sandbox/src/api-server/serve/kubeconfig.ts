/** The kubeconfig of a served API. */

export interface KubeconfigFacts {
  /** Of cluster, user and context. */
  readonly name: string;
  readonly url: string;
  /** PEM text of the certificate to trust. */
  readonly certificate: string;
  readonly token: string;
}

export function kubeconfigText({ name, url, certificate, token }: KubeconfigFacts): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${url}
    certificate-authority-data: ${Buffer.from(certificate).toString("base64")}
users:
- name: ${name}
  user:
    token: ${token}
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${name}
current-context: ${name}
`;
}
