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
	"rollcall/shared/shell"
)

// describer is the part of EKS that is asked.
type describer interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
	DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error)
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
	// byHand reports that the reader has an access entry that no stack of Rollcall made:
	// those carry the tag of all that the stack makes.
	byHand   bool
	entryErr error
}

// atOnce is how many clusters are asked for at the same time.
const atOnce = 8

// modes asks EKS for the authentication mode of each cluster, and for the reader's access
// entry; without the reader's ARN, not for that.
func modes(ctx context.Context, api describer, clusters []string, reader string) []answer {
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
			if answers[i].err == nil && answers[i].mode != ekstypes.AuthenticationModeConfigMap && reader != "" {
				answers[i].byHand, answers[i].entryErr = madeByHand(ctx, api, name, reader)
			}
		})
	}
	wait.Wait()
	return answers
}

func madeByHand(ctx context.Context, api describer, cluster, reader string) (bool, error) {
	out, err := api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(reader)})
	var none *ekstypes.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return false, nil
	case err != nil:
		return false, err
	case out.AccessEntry == nil:
		return false, errors.New("the answer holds no access entry")
	}
	return out.AccessEntry.Tags[settings.TagKey] != settings.TagValue, nil
}

// found are the answers, by what follows from them.
type found struct {
	// configMap are those in which EKS refuses access entries.
	configMap []string
	// missing are those that EKS does not know.
	missing []string
	// byHand are those in which the reader's access entry was made by hand.
	byHand  []string
	unasked []answer
	// unseen are those of which it is not known whether they have one.
	unseen []answer
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
		case a.entryErr != nil:
			f.unseen = append(f.unseen, a)
		case a.byHand:
			f.byHand = append(f.byHand, a.cluster)
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
	for _, a := range f.unseen {
		fmt.Fprintf(&b, "%s: whether Rollcall's reader has an access entry there that was made by hand is not known (eks:DescribeAccessEntry: %v). If it has, EKS refuses the stack's and the stack rolls back.\n", a.cluster, a.entryErr)
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

// byHandError refuses clusters in which the stack would make an access entry that is there:
// EKS refuses a second one for a principal (ResourceInUseException, "The specified access
// entry resource is already in use on this cluster"), and CloudFormation rolls the whole stack
// back.
func (f found) byHandError(region, reader string) error {
	if len(f.byHand) == 0 {
		return nil
	}
	var commands strings.Builder
	for _, c := range f.byHand {
		commands.WriteString("\n  " + shell.Command("aws", "eks", "delete-access-entry", "--region", region, "--cluster-name", c, "--principal-arn", reader))
	}
	return fmt.Errorf("the stack makes the access entry of Rollcall's reader in %s, and one was made there by hand: EKS refuses the second, and the whole stack would roll back."+
		" Delete it right before the deployment, or leave the cluster out of CLUSTERS and accessClusters:%s", strings.Join(f.byHand, ", "), commands.String())
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
