export interface ControlPlane {
  readonly kubeconfig: string;
  readonly url: string;
  /** PEM of what signs the API server's certificate. */
  readonly certificate: string;
  /** Of a user who may do everything. */
  readonly token: string;
  readonly pids: readonly number[];
  stop(): void;
}
/**
 * The folder with etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kwok. `KUBEBUILDER_ASSETS` names it; without it they are
 * built with Go into a cache outside the repository (about 12 minutes the first time).
 */
export declare function controlPlaneAssets(): string;
/** Data, logs and process IDs go into `folder`; what an earlier start left there is taken up again. */
export declare function startControlPlane(folder: string, assets?: string): Promise<ControlPlane>;
