#!/usr/bin/env bash
# Starts the control plane that build.sh made, on loopback:  start.sh DIR   (KUBEBUILDER_ASSETS, PORT=16443, ETCD_PORT=12379, KWOK=1,
# API_ONLY=1: nobody acts on objects, CONTROLLER_MANAGER_FLAGS).
# DIR gets kubeconfig, tokens.csv, logs and pids. Ready in about 4 seconds. Stop with stop.sh DIR.
set -euo pipefail
bin=${KUBEBUILDER_ASSETS:-${XDG_CACHE_HOME:-$HOME/.cache}/control-plane/1.37.2}
mkdir -p "$1"; cd "$1"; dir=$PWD; port=${PORT:-16443}; etcd=${ETCD_PORT:-12379}
: > pids
[ -f sa.key ] || openssl genrsa -out sa.key 2048 2>/dev/null
[ -f ca.crt ] || openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 3650 -subj /CN=test-ca 2>/dev/null
[ -f tokens.csv ] || echo 'admin-token,admin,admin,"system:masters"' > tokens.csv
"$bin/etcd" --data-dir etcd --listen-client-urls http://127.0.0.1:$etcd --advertise-client-urls http://127.0.0.1:$etcd \
  --listen-peer-urls http://127.0.0.1:$((etcd + 1)) --unsafe-no-fsync > etcd.log 2>&1 & echo $! >> pids
"$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:$etcd --bind-address=127.0.0.1 --secure-port=$port --cert-dir=certs \
  --endpoint-reconciler-type=none --token-auth-file=tokens.csv --client-ca-file=ca.crt --authorization-mode=Node,RBAC \
  --service-account-key-file=sa.key --service-account-signing-key-file=sa.key --service-account-issuer=https://kubernetes.default.svc \
  --service-cluster-ip-range=10.0.0.0/24 --allow-privileged=true --disable-admission-plugins=ServiceAccount \
  --max-requests-inflight=2000 --max-mutating-requests-inflight=1000 > apiserver.log 2>&1 & echo $! >> pids
cat > kubeconfig <<K
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$port", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: admin-token}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
K
apiserver=$!
ready() { curl -ksf --max-time 2 -H 'Authorization: Bearer admin-token' https://127.0.0.1:$port/readyz > /dev/null; }
for _ in $(seq 120); do
  kill -0 $apiserver 2> /dev/null || break
  ready && break
  sleep 0.25
done
kill -0 $apiserver 2> /dev/null && ready || { echo "kube-apiserver did not come up:" >&2; tail -n 5 apiserver.log >&2; exit 1; }
[ -n "${API_ONLY:-}" ] && { echo "$dir/kubeconfig"; exit; }
cat > scheduler.yaml <<K
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: "$dir/kubeconfig", qps: 1000, burst: 2000}
K
auth="--kubeconfig=kubeconfig --authentication-kubeconfig=kubeconfig --authorization-kubeconfig=kubeconfig --bind-address=127.0.0.1"
"$bin/kube-scheduler" --config=scheduler.yaml ${auth#--kubeconfig=kubeconfig } --secure-port=$((port + 1)) > scheduler.log 2>&1 & echo $! >> pids
"$bin/kube-controller-manager" $auth --secure-port=$((port + 2)) --leader-elect=false --kube-api-qps=1000 --kube-api-burst=2000 \
  --service-account-private-key-file=sa.key --controllers='*,-node-ipam-controller' ${CONTROLLER_MANAGER_FLAGS:-} > controller-manager.log 2>&1 & echo $! >> pids
if [ -n "${KWOK:-}" ]; then # kubelets without machines: nodes become Ready, bound pods Running
  "$bin/kwok" --manage-all-nodes --kubeconfig "$dir/kubeconfig" -c "${KWOK_CONFIG:-$bin/kwok-stages.yaml}" --node-lease-duration-seconds 40 > kwok.log 2>&1 & echo $! >> pids
fi
echo "$dir/kubeconfig"
