package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/worldfile"
)

// loadKubernetes keeps what the clusters' APIs have and makes the nodes that
// the file only names.
func (w *World) loadKubernetes(f *worldfile.File) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(f.Kubernetes)) {
		k := w.kubernetes[name]
		if k == nil {
			errs = append(errs, fmt.Errorf("kubernetes: cluster %q is not in the world", name))
			continue
		}
		from := f.Kubernetes[name]
		k.Objects = map[string][]map[string]any{
			"pods": from.Pods, "persistentvolumes": from.PersistentVolumes, "persistentvolumeclaims": from.PersistentVolumeClaims,
			"daemonsets": from.DaemonSets, "serviceaccounts": from.ServiceAccounts, "configmaps": from.ConfigMaps, "events": from.Events,
			"certificatesigningrequests": from.CertificateSigningRequests, kubestate.ENIConfigs: from.ENIConfigs,
			"nodepools": from.NodePools, "nodeclaims": from.NodeClaims, "ec2nodeclasses": from.EC2NodeClasses, "nodeclasses": from.NodeClasses,
		}
		if c := w.clusters.Get(name); c != nil {
			k.KubernetesVersion = aws.ToString(c.Version)
		}
		if from.ProvisionedVolumes {
			w.provisionVolumes(k)
		}
		for i, n := range from.Nodes {
			spec, _ := n["spec"].(map[string]any)
			provider, _ := spec["providerID"].(string)
			id := provider[strings.LastIndex(provider, "/")+1:]
			if id == "" {
				errs = append(errs, fmt.Errorf("kubernetes.%s.nodes[%d] has no spec.providerID", name, i))
				continue
			}
			k.Nodes.Put(id, &n)
			k.Version++
		}
		for _, id := range from.Joined {
			in := w.instances.Get(id)
			if in == nil || w.clusterOf(id) != name {
				errs = append(errs, fmt.Errorf("kubernetes.%s.joined: %s is not an instance of this cluster", name, id))
				continue
			}
			w.joinAtStart(k, in)
		}
	}
	return errors.Join(errs...)
}

// joinAtStart makes an instance a Ready node since its launch.
func (w *World) joinAtStart(k *kubestate.Cluster, in *ec2types.Instance) {
	now := w.now
	w.now = in.LaunchTime.Add(time.Duration(w.file.Nodes.BootSeconds) * time.Second)
	node := w.nodeObject(in)
	w.putNode(k, in, node)
	w.now = w.now.Add(time.Duration(w.file.Nodes.ReadySeconds) * time.Second)
	w.startCNI(k, in)
	kubestate.SetReady(node, true, "KubeletReady", "kubelet is posting ready status", w.now)
	w.now = now
}
