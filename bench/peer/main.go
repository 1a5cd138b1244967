// peer drives Karpenter 1.15's own scheduler, from its Go module, with the input that `joinery plan` takes:
//
//	peer --catalog types.json manifests... > plan.json        (--bare: one line of metrics)
//
// The plan comes out in the same format (formats.md), so that one checker and one price apply to both.
// Pods, NodePools, Nodes, DaemonSets, Namespaces and volumes with their claims and classes are read; workloads must be given as pods. --repeat N solves N times, each with a
// fresh scheduler, and reports the median. solveSeconds is Solve alone, as in Karpenter's benchmark; buildSeconds is what comes before it.
// Build: GOTOOLCHAIN=go1.27.3 go build -o PATH .
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sort"
	"strings"
	"time"

	"github.com/awslabs/operatorpkg/status"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakecr "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	sched "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/test"
)

type catalogOffering struct {
	Price        float64
	Available    *bool
	Requirements []corev1.NodeSelectorRequirement
}

type catalogType struct {
	Name             string              `json:"name"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Resources        corev1.ResourceList `json:"resources"`
	Offerings        []catalogOffering   `json:"offerings"`
	Labels           map[string]string   `json:"labels"`
	Overhead         corev1.ResourceList `json:"overhead"`
}

type catalog struct{ types []*cloudprovider.InstanceType }

func (c catalog) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	return nil, errors.New("no")
}
func (c catalog) Delete(context.Context, *v1.NodeClaim) error        { return errors.New("no") }
func (c catalog) Get(context.Context, string) (*v1.NodeClaim, error) { return nil, errors.New("no") }
func (c catalog) List(context.Context) ([]*v1.NodeClaim, error)      { return nil, nil }
func (c catalog) GetInstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return c.types, nil
}
func (c catalog) IsDrifted(context.Context, *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (c catalog) Reboot(context.Context, *v1.NodeClaim, string) error { return errors.New("no") }
func (c catalog) RepairPolicies() []cloudprovider.RepairPolicy        { return nil }
func (c catalog) Name() string                                        { return "catalog" }
func (c catalog) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&v1alpha1.KWOKNodeClass{}}
}

func loadCatalog(path string) (out []*cloudprovider.InstanceType) {
	raw, err := os.ReadFile(path)
	must(err)
	var in []catalogType
	must(json.Unmarshal(raw, &in))
	for _, t := range in {
		zones, cts := sets.New[string](), sets.New[string]()
		var offs cloudprovider.Offerings
		for _, o := range t.Offerings {
			var rs []*sched.Requirement
			for _, r := range o.Requirements {
				v1.WellKnownLabels.Insert(r.Key)
				rs = append(rs, sched.NewRequirement(r.Key, r.Operator, r.Values...))
				switch r.Key {
				case corev1.LabelTopologyZone:
					zones.Insert(r.Values...)
				case v1.CapacityTypeLabelKey:
					cts.Insert(r.Values...)
				}
			}
			offs = append(offs, &cloudprovider.Offering{Requirements: sched.NewRequirements(rs...), Price: o.Price, Available: o.Available == nil || *o.Available})
		}
		reqs := sched.NewRequirements(
			sched.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, t.Name),
			sched.NewRequirement(corev1.LabelArchStable, corev1.NodeSelectorOpIn, t.Architecture),
			sched.NewRequirement(corev1.LabelOSStable, corev1.NodeSelectorOpIn, t.OperatingSystems...),
			sched.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, sets.List(zones)...),
			sched.NewRequirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, sets.List(cts)...),
		)
		if t.Labels == nil {
			t.Labels = map[string]string{}
		}
		cpu, mem := t.Resources[corev1.ResourceCPU], t.Resources[corev1.ResourceMemory]
		family, size, isAWS := strings.Cut(t.Name, ".")
		if !isAWS {
			family, _, _ = strings.Cut(t.Name, "-")
			size = cpu.String()
		}
		for k, v := range map[string]string{v1alpha1.InstanceCPULabelKey: cpu.String(), v1alpha1.InstanceMemoryLabelKey: mem.String(),
			v1alpha1.InstanceFamilyLabelKey: family, v1alpha1.InstanceSizeLabelKey: size} {
			if _, ok := t.Labels[k]; !ok {
				t.Labels[k] = v
			}
		}
		for k, v := range t.Labels {
			v1.WellKnownLabels.Insert(k)
			reqs.Add(sched.NewRequirement(k, corev1.NodeSelectorOpIn, v))
		}
		if _, ok := t.Resources[corev1.ResourcePods]; !ok {
			t.Resources[corev1.ResourcePods] = resource.MustParse("110")
		}
		out = append(out, &cloudprovider.InstanceType{Name: t.Name, Requirements: reqs, Offerings: offs, Capacity: t.Resources,
			Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: t.Overhead}})
	}
	return out
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func load(paths []string) (objs []client.Object) {
	dec := scheme.Codecs.UniversalDeserializer()
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		must(err)
		r := utilyaml.NewYAMLReader(bufio.NewReaderSize(bytes.NewReader(raw), 1<<20))
		for {
			doc, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			must(err)
			if len(bytes.TrimSpace(doc)) == 0 {
				continue
			}
			j, err := utilyaml.ToJSON(doc)
			must(err)
			if string(j) == "null" {
				continue
			}
			var head struct{ Kind string }
			must(json.Unmarshal(j, &head))
			if head.Kind == "KWOKNodeClass" || head.Kind == "EC2NodeClass" {
				continue
			}
			if head.Kind == "List" {
				var l struct{ Items []json.RawMessage }
				must(json.Unmarshal(j, &l))
				for _, it := range l.Items {
					o, _, err := dec.Decode(it, nil, nil)
					must(err)
					objs = append(objs, o.(client.Object))
				}
				continue
			}
			o, _, err := dec.Decode(j, nil, nil)
			must(err)
			objs = append(objs, o.(client.Object))
		}
	}
	return objs
}

func main() {
	catalogPath := flag.String("catalog", "", "instance types (KWOK format)")
	repeat := flag.Int("repeat", 1, "how often to solve")
	bare := flag.Bool("bare", false, "print the metrics only")
	flag.CommandLine.Parse(os.Args[1:])
	log.SetLogger(logging.NopLogger)
	its := loadCatalog(*catalogPath)
	objs := load(flag.Args())
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), test.Options())

	var all []client.Object
	var pods []*corev1.Pod
	var nodes []*corev1.Node
	var bound []*corev1.Pod
	namespaces := []string{"default"}
	for _, o := range objs {
		if ns, ok := o.(*corev1.Namespace); ok && ns.Name != "default" {
			namespaces = append(namespaces, ns.Name)
		}
	}
	n := 0
	for _, o := range objs {
		if o.GetNamespace() == "" {
			switch o.(type) {
			case *corev1.Pod, *appsv1.DaemonSet, *corev1.PersistentVolumeClaim:
				o.SetNamespace("default")
			}
		}
		if o.GetUID() == "" {
			n++
			o.SetUID(types.UID(fmt.Sprintf("uid-%06d", n)))
		}
		switch t := o.(type) {
		case *corev1.Pod:
			if t.Spec.NodeName == "" {
				t.Status.Phase = corev1.PodPending
				t.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
				pods = append(pods, t)
			} else {
				bound = append(bound, t)
			}
		case *v1.NodePool:
			ref := t.Spec.Template.Spec.NodeClassRef
			if ref == nil {
				ref = &v1.NodeClassReference{}
				t.Spec.Template.Spec.NodeClassRef = ref
			}
			ref.Group, ref.Kind, ref.Name = "karpenter.kwok.sh", "KWOKNodeClass", "default"
			t.StatusConditions().SetTrue(status.ConditionReady)
			t.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
			t.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
		case *corev1.Node:
			nodes = append(nodes, t)
			if t.Spec.ProviderID == "" {
				t.Spec.ProviderID = "catalog://" + t.Name
			}
		case *storagev1.StorageClass:
		}
		all = append(all, o)
		if pv, ok := o.(*corev1.PersistentVolume); ok { // VolumeTopology asks for PVs with the pod's namespace, which the fake client takes literally
			for _, namespace := range namespaces {
				c := pv.DeepCopy()
				c.Namespace = namespace
				all = append(all, c)
			}
		}
	}
	all = append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	sc := scheme.Scheme
	kube := fakecr.NewClientBuilder().WithScheme(sc).WithObjects(dedupe(all)...).WithStatusSubresource(&v1.NodePool{}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).Build()

	cp := catalog{its}
	var solveTimes, buildTimes []float64
	invalid := map[*corev1.Pod]error{}
	var results scheduling.Results
	var peak uint64
	for i := 0; i < *repeat; i++ {
		cluster := state.NewCluster(clock.RealClock{}, kube, cp)
		for _, nd := range nodes {
			must(cluster.UpdateNode(ctx, nd))
		}
		for _, b := range bound {
			must(cluster.UpdatePod(ctx, b))
		}
		for _, o := range objs {
			if ds, ok := o.(*appsv1.DaemonSet); ok {
				_ = cluster.UpdateDaemonSet(ctx, ds)
			}
		}
		prov := provisioning.NewProvisioner(kube, events.NewRecorder(&record.FakeRecorder{}), cp, cluster, clock.RealClock{}, nil, nil)
		in := make([]*corev1.Pod, 0, len(pods))
		for _, p := range pods {
			if err := prov.Validate(ctx, p); err != nil {
				invalid[p] = err
				continue
			}
			in = append(in, p.DeepCopy())
		}
		runtime.GC()
		t0 := time.Now()
		s, err := prov.NewScheduler(ctx, in, cluster.DeepCopyNodes().Active(), nil, scheduling.DisableReservedCapacityFallback,
			scheduling.NumConcurrentReconciles(2), scheduling.MinValuesPolicy(options.FromContext(ctx).MinValuesPolicy))
		must(err)
		t1 := time.Now()
		results, err = s.Solve(ctx, in)
		must(err)
		t2 := time.Now()
		buildTimes = append(buildTimes, t1.Sub(t0).Seconds())
		solveTimes = append(solveTimes, t2.Sub(t1).Seconds())
		var ms runtime.MemStats
		runtime.ReadMemStats(&ms)
		if ms.Sys > peak {
			peak = ms.Sys
		}
	}
	if results.PodErrors == nil {
		results.PodErrors = map[*corev1.Pod]error{}
	}
	for p, err := range invalid {
		results.PodErrors[p] = err
	}
	results = results.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes)
	out := plan(results)
	sort.Float64s(solveTimes)
	sort.Float64s(buildTimes)
	solve, build := solveTimes[len(solveTimes)/2], buildTimes[len(buildTimes)/2]
	metrics := map[string]any{"pods": len(pods), "newNodes": len(out.NewNodes), "unschedulable": len(out.Unschedulable), "pricePerHour": out.Cost["newPerHour"],
		"solveSeconds": solve, "buildSeconds": build, "podsPerSecond": float64(len(pods)) / (solve + build), "sysMiB": peak >> 20}
	enc := json.NewEncoder(os.Stdout)
	if *bare {
		must(enc.Encode(metrics))
		return
	}
	out.Stats = metrics
	enc.SetIndent("", " ")
	must(enc.Encode(out))
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}
type newNode struct {
	Name          string         `json:"name"`
	NodePool      string         `json:"nodePool"`
	Requirements  []requirement  `json:"requirements"`
	InstanceTypes []string       `json:"instanceTypes"`
	Cheapest      map[string]any `json:"cheapest"`
	Pods          []string       `json:"pods"`
}
type planOut struct {
	APIVersion    string           `json:"apiVersion"`
	Kind          string           `json:"kind"`
	NewNodes      []newNode        `json:"newNodes"`
	ExistingNodes []map[string]any `json:"existingNodes"`
	Unschedulable []map[string]any `json:"unschedulable"`
	Cost          map[string]any   `json:"cost"`
	Stats         map[string]any   `json:"stats"`
}

func plan(r scheduling.Results) planOut {
	o := planOut{APIVersion: "joinery.dev/v1", Kind: "Plan", NewNodes: []newNode{}, ExistingNodes: []map[string]any{}, Unschedulable: []map[string]any{}, Cost: map[string]any{"currency": "USD"}}
	total := 0.0
	for i, nc := range r.NewNodeClaims {
		price, name, zone, ct := cheapest(nc)
		total += price
		var names []string
		for _, it := range nc.InstanceTypeOptions.OrderByPrice(nc.Requirements) {
			names = append(names, it.Name)
		}
		nn := newNode{Name: fmt.Sprintf("%s-%d", nc.NodePoolName, i+1), NodePool: nc.NodePoolName, Requirements: requirements(nc), InstanceTypes: names,
			Cheapest: map[string]any{"instanceType": name, "zone": zone, "capacityType": ct, "pricePerHour": price}}
		for _, p := range nc.Pods {
			nn.Pods = append(nn.Pods, p.Namespace+"/"+p.Name)
		}
		sort.Strings(nn.Pods)
		o.NewNodes = append(o.NewNodes, nn)
	}
	for _, en := range r.ExistingNodes {
		if len(en.Pods) == 0 {
			continue
		}
		var ps []string
		for _, p := range en.Pods {
			ps = append(ps, p.Namespace+"/"+p.Name)
		}
		sort.Strings(ps)
		o.ExistingNodes = append(o.ExistingNodes, map[string]any{"name": en.Name(), "pods": ps})
	}
	for p, err := range r.PodErrors {
		o.Unschedulable = append(o.Unschedulable, map[string]any{"pod": p.Namespace + "/" + p.Name, "reasons": []map[string]any{{"message": err.Error()}}})
	}
	sort.Slice(o.Unschedulable, func(i, j int) bool { return o.Unschedulable[i]["pod"].(string) < o.Unschedulable[j]["pod"].(string) })
	o.Cost["newPerHour"] = total
	return o
}

// requirements are those that decide which offerings may be launched, by key; types stand in a list of their own.
func requirements(nc *scheduling.NodeClaim) []requirement {
	out := []requirement{}
	for _, r := range nc.Requirements.NodeSelectorRequirements() {
		if r.Key != corev1.LabelHostname && r.Key != corev1.LabelInstanceTypeStable {
			out = append(out, requirement{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	return out
}

// cheapest is the offering that a price-ordered fleet would take.
func cheapest(nc *scheduling.NodeClaim) (float64, string, string, string) {
	best, name, zone, ct := -1.0, "", "", ""
	for _, it := range nc.InstanceTypeOptions {
		for _, of := range it.Offerings.Available() {
			if !nc.Requirements.IsCompatible(of.Requirements, sched.AllowUndefinedWellKnownLabels) {
				continue
			}
			if best < 0 || of.Price < best || (of.Price == best && it.Name < name) {
				best, name = of.Price, it.Name
				zone = strings.Join(of.Requirements.Get(corev1.LabelTopologyZone).Values(), ",")
				ct = strings.Join(of.Requirements.Get(v1.CapacityTypeLabelKey).Values(), ",")
			}
		}
	}
	return best, name, zone, ct
}

func dedupe(in []client.Object) []client.Object {
	seen := map[string]bool{}
	var out []client.Object
	for _, o := range in {
		k := fmt.Sprintf("%T/%s/%s", o, o.GetNamespace(), o.GetName())
		if !seen[k] {
			seen[k] = true
			out = append(out, o)
		}
	}
	return out
}
