package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/infra/settings"
)

// describer is the part of EKS that is asked.
type describer interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// entries are the clusters in which the stack would make access entries.
func entries(chosen settings.Settings) []string {
	if chosen.Access == settings.AccessNone {
		return nil
	}
	return chosen.AccessClusters
}

// answer is what EKS says of one cluster.
type answer struct {
	cluster string
	mode    ekstypes.AuthenticationMode
	err     error
}

// atOnce is how many clusters are asked for at the same time.
const atOnce = 8

// modes asks EKS for the authentication mode of each cluster.
func modes(ctx context.Context, api describer, clusters []string) []answer {
	answers := make([]answer, len(clusters))
	var wait sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for i, name := range clusters {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			answers[i] = answer{cluster: name}
			out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
			switch {
			case err != nil:
				answers[i].err = err
			case out.Cluster == nil:
				answers[i].err = errors.New("the answer holds no cluster")
			case out.Cluster.AccessConfig == nil:
				// As everywhere here: without a mode it is one from before access entries.
				answers[i].mode = ekstypes.AuthenticationModeConfigMap
			default:
				answers[i].mode = out.Cluster.AccessConfig.AuthenticationMode
			}
		})
	}
	wait.Wait()
	return answers
}

// found are the answers, by what follows from them.
type found struct {
	// configMap are those in which EKS refuses access entries.
	configMap []string
	// missing are those that EKS does not know.
	missing []string
	unasked []answer
}

func sorted(answers []answer) found {
	var f found
	for _, a := range answers {
		var none *ekstypes.ResourceNotFoundException
		switch {
		case errors.As(a.err, &none):
			f.missing = append(f.missing, a.cluster)
		case a.err != nil:
			f.unasked = append(f.unasked, a)
		case a.mode == ekstypes.AuthenticationModeConfigMap:
			f.configMap = append(f.configMap, a.cluster)
		}
	}
	return f
}

// words are for an operator; none where there is nothing to be said.
func (f found) words(region string) string {
	var b strings.Builder
	for _, c := range f.configMap {
		fmt.Fprintf(&b, "%s: authentication mode CONFIG_MAP. EKS refuses access entries there, so the stack makes none. After the deployment add the lines of the output AwsAuthRoles under mapRoles"+
			" (kubectl -n kube-system edit configmap aws-auth), and run the output ClusterRoleCommand. Or let the cluster take access entries too, for good, and deploy again:\n"+
			"  aws eks update-cluster-config --region %s --name %s --access-config authenticationMode=API_AND_CONFIG_MAP\n", c, region, c)
	}
	for _, a := range f.unasked {
		fmt.Fprintf(&b, "%s: its authentication mode is not known (eks:DescribeCluster: %v). If it is CONFIG_MAP, EKS refuses the access entry and the stack rolls back: add %s=%s to SET.\n",
			a.cluster, a.err, settings.ConfigMapClusters, a.cluster)
	}
	return b.String()
}

// missingError refuses clusters that are not there: their access entries would
// fail, and roll the stack back.
func (f found) missingError(region string) error {
	if len(f.missing) == 0 {
		return nil
	}
	return fmt.Errorf("EKS has no cluster %s in %s (CLUSTERS=…, or accessClusters in SET; aws eks list-clusters)", strings.Join(f.missing, ", "), region)
}

// context is what the CDK command line is given on top, so that the stack makes
// no access entry where EKS would refuse it.
func (f found) context(given []string) string {
	all := slices.Concat(given, f.configMap)
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("-c %s=%s\n", settings.ConfigMapClusters, strings.Join(slices.Compact(all), ","))
}
