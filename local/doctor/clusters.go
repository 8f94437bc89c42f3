package doctor

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/infra/clusterrole"
	"rollcall/shared/config"
	"rollcall/shared/spoke"
)

// clusters looks at the watched clusters, and whether each lets in the role that reads
// in it.
func (c Clients) clusters(ctx context.Context, d Deployment, there []functionOf) []Finding {
	readers := readersOf(there)
	if len(readers) == 0 {
		return nil
	}
	first := readers[0].functions[0]
	cfg, err := settingsOf(first, append(config.SpokeVariables(), config.Clusters)...)
	if err != nil {
		return []Finding{redeploy(Finding{Part: "settings", Name: Prefix + "-" + first.spec.Name, Says: err.Error(), Do: "Correct the setting (docs/settings.md), and deploy."})}
	}
	names := cfg.In(spoke.ID{}).Clusters
	if names == nil {
		if names, err = c.all(ctx); err != nil {
			return []Finding{unseen("cluster", d.Region, "eks:ListClusters", err)}
		}
	}
	if len(names) == 0 && len(cfg.Others()) > 0 {
		return []Finding{{Part: "cluster", Name: d.Region, State: Off, Says: "there is none in the hub's own account and region"}}
	}
	if len(names) == 0 {
		return []Finding{{Part: "cluster", Name: d.Region, State: Wrong, Says: "there is no cluster to watch in this account and region", Do: "Deploy it where the clusters are, or wait: each new one is watched by itself."}}
	}
	var list []Finding
	for i := range readers {
		list = append(list, c.assumed(ctx, &readers[i])...)
	}
	for _, name := range names {
		for _, f := range c.cluster(ctx, d, name, readers) {
			f.Cluster, f.Account, f.Region, f.Whose = name, d.Account, d.Region, nameOfHub(cfg)
			list = append(list, f)
		}
	}
	return list
}

// nameOfHub is the name that the settings give the hub's own account and region.
func nameOfHub(cfg config.Config) string {
	for _, s := range cfg.Spokes {
		if s.ID == cfg.Hub {
			return s.Name
		}
	}
	return ""
}

func (c Clients) all(ctx context.Context) ([]string, error) {
	var names []string
	in := &eks.ListClustersInput{}
	for {
		out, err := c.Clusters.ListClusters(ctx, in)
		if err != nil {
			return nil, err
		}
		names = append(names, out.Clusters...)
		if in.NextToken = out.NextToken; in.NextToken == nil {
			return names, nil
		}
	}
}

// cluster looks at one cluster.
func (c Clients) cluster(ctx context.Context, d Deployment, name string, readers []reader) []Finding {
	out, err := c.Clusters.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
	switch {
	case coded(err, "ResourceNotFoundException"):
		return []Finding{{Part: "cluster", Name: name, State: Wrong, Says: "is not there, and the setting clusters names it", Do: "Take it out of the setting clusters, and deploy.", Command: "make deploy"}}
	case err != nil:
		return []Finding{unseen("cluster", name, "eks:DescribeCluster", err)}
	}
	if a := out.Cluster.AccessConfig; a != nil && a.AuthenticationMode == types.AuthenticationModeConfigMap {
		return []Finding{{
			Part: "cluster", Name: name, State: Unknown, Says: "takes no access entries (authentication mode CONFIG_MAP): whether its aws-auth names the role only Kubernetes knows",
			Do: "Compare it with the stack's output AwsAuthRoles.", Command: "kubectl -n kube-system get configmap aws-auth -o yaml",
		}}
	}
	var list []Finding
	var byGroup []functionOf
	for _, r := range readers {
		x, inGroup := c.entry(ctx, d, name, r)
		if x.State != Well {
			list = append(list, x)
		}
		if inGroup {
			byGroup = append(byGroup, r.functions...)
		}
	}
	if len(list) == 0 {
		list = []Finding{{Part: "cluster", Name: name, State: Well, Says: "lets in who reads in it"}}
	}
	list = append(list, c.relay(ctx, out.Cluster, readers[0].functions[0])...)
	if len(byGroup) > 0 {
		list = append(list, c.rights(ctx, clusterOf(out.Cluster), byGroup))
	}
	return list
}

// clusterOf is a cluster as its API is reached. A broken authority is the reader's to tell.
func clusterOf(c *types.Cluster) Cluster {
	out := Cluster{Name: aws.ToString(c.Name), Endpoint: aws.ToString(c.Endpoint)}
	if c.CertificateAuthority != nil {
		out.CA, _ = base64.StdEncoding.DecodeString(aws.ToString(c.CertificateAuthority.Data))
	}
	return out
}

// skew is by how much the clocks of IAM and EKS may differ: IAM's dates are whole seconds.
const skew = time.Minute

// entry looks at the access entry of a role in a cluster, and whether it is by the
// group that it is let in.
func (c Clients) entry(ctx context.Context, d Deployment, cluster string, f reader) (found Finding, inGroup bool) {
	role := f.role[strings.LastIndex(f.role, "/")+1:]
	out, err := c.Clusters.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(f.role)})
	finding := Finding{Part: "access entry", Name: cluster + " " + f.name, State: Wrong}
	of := fmt.Sprintf(" --region '%s' --cluster-name '%s' --principal-arn '%s'", d.Region, cluster, f.role)
	where := of + " --kubernetes-groups " + clusterrole.Group
	switch {
	case coded(err, "ResourceNotFoundException"):
		finding.Says = "there is none for the role " + role + ": nodes, pods and volumes of " + cluster + " cannot be read"
		finding.Do, finding.Command = "Make it, and apply deploy/clusterrole.yaml in the cluster where that was not done.", "aws eks create-access-entry"+where
		return finding, false
	case err != nil:
		return unseen("access entry", finding.Name, "eks:DescribeAccessEntry", err), false
	}
	if made := aws.ToTime(out.AccessEntry.CreatedAt); made.Add(skew).Before(f.made) {
		// EKS API reference, AccessEntry, "principalArn": after the principal was made again the
		// entry won't work, even if it has the same ARN.
		finding.Says = fmt.Sprintf("it is of %s, and the role %s was made again on %s: EKS goes by the id of the role, not by its name, and answers 401 Unauthorized. Nodes, pods and volumes of %s cannot be read",
			made.UTC().Format("2006-01-02 15:04 UTC"), role, f.made.UTC().Format("2006-01-02 15:04 UTC"), cluster)
		finding.Do = "Delete it and make it again, and apply deploy/clusterrole.yaml in the cluster where that was not done."
		finding.Command = "aws eks delete-access-entry" + of + " && aws eks create-access-entry" + where
		return finding, false
	}
	if slices.Contains(out.AccessEntry.KubernetesGroups, clusterrole.Group) {
		return Finding{Part: "access entry", Name: finding.Name, State: Well, Says: "is there"}, true
	}
	policies, err := c.Clusters.ListAssociatedAccessPolicies(ctx, &eks.ListAssociatedAccessPoliciesInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(f.role)})
	if err != nil {
		return unseen("access entry", finding.Name, "eks:ListAssociatedAccessPolicies", err), false
	}
	if len(policies.AssociatedAccessPolicies) > 0 {
		return Finding{Part: "access entry", Name: finding.Name, State: Well, Says: "is there, with access policies"}, false
	}
	finding.Says = "it gives the role " + role + " neither the group " + clusterrole.Group + " nor an access policy: it may read nothing"
	finding.Do, finding.Command = "Put it into the group, and apply deploy/clusterrole.yaml in the cluster where that was not done.", "aws eks update-access-entry"+where
	return finding, false
}
