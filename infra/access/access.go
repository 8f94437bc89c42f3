// Package access looks, before a deployment, at the clusters in which the stack would make access
// entries: which of them reject these, and what is there already. make deploy and rollcall deploy
// refuse what would roll the whole stack back.
package access

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
)

// Describer is the part of EKS that is asked.
type Describer interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
	DescribeAccessEntry(context.Context, *eks.DescribeAccessEntryInput, ...func(*eks.Options)) (*eks.DescribeAccessEntryOutput, error)
}

// Look asks EKS for the authentication mode of each cluster, and for the reader's access
// entry; without the reader's ARN, not for that.
func Look(ctx context.Context, api Describer, clusters []string, reader string) Found {
	return sorted(modes(ctx, api, clusters, reader))
}

// Answer is what EKS says of one cluster.
type Answer struct {
	Cluster string
	mode    ekstypes.AuthenticationMode
	Err     error
	// byHand reports that the reader has an access entry that no stack of Rollcall made:
	// those carry the tag of all that the stack makes.
	byHand bool
	// byPolicy reports that it has one of the stack's that is not in Rollcall's group: its
	// rights are those of EKS access policies.
	byPolicy bool
	EntryErr error
}

// AtOnce is how many clusters are asked for at the same time.
const AtOnce = 8

// modes asks EKS for the authentication mode of each cluster, and for the reader's access
// entry; without the reader's ARN, not for that.
func modes(ctx context.Context, api Describer, clusters []string, reader string) []Answer {
	answers := make([]Answer, len(clusters))
	var wait sync.WaitGroup
	free := make(chan struct{}, AtOnce)
	for i, name := range clusters {
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			answers[i] = Answer{Cluster: name}
			out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(name)})
			switch {
			case err != nil:
				answers[i].Err = err
			case out.Cluster == nil:
				answers[i].Err = errors.New("the answer holds no cluster")
			case out.Cluster.AccessConfig == nil:
				// As everywhere here: without a mode it is one from before access entries.
				answers[i].mode = ekstypes.AuthenticationModeConfigMap
			default:
				answers[i].mode = out.Cluster.AccessConfig.AuthenticationMode
			}
			if answers[i].Err == nil && answers[i].mode != ekstypes.AuthenticationModeConfigMap && reader != "" {
				answers[i].byHand, answers[i].byPolicy, answers[i].EntryErr = entryOf(ctx, api, name, reader)
			}
		})
	}
	wait.Wait()
	return answers
}

// entryOf reports how the reader's access entry in a cluster was made; neither where there
// is none.
func entryOf(ctx context.Context, api Describer, cluster, reader string) (byHand, byPolicy bool, err error) {
	out, err := api.DescribeAccessEntry(ctx, &eks.DescribeAccessEntryInput{ClusterName: aws.String(cluster), PrincipalArn: aws.String(reader)})
	var none *ekstypes.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return false, false, nil
	case err != nil:
		return false, false, err
	case out.AccessEntry == nil:
		return false, false, errors.New("the answer holds no access entry")
	case out.AccessEntry.Tags[settings.TagKey] != settings.TagValue:
		return true, false, nil
	}
	return false, !slices.Contains(out.AccessEntry.KubernetesGroups, clusterrole.Group), nil
}

// Found are the answers, by what follows from them.
type Found struct {
	// ConfigMap are those in which EKS refuses access entries.
	ConfigMap []string
	// Missing are those that EKS does not know.
	Missing []string
	// ByHand are those in which the reader's access entry was made by hand.
	ByHand []string
	// ByPolicy are those in which the stack's access entry has access policies.
	ByPolicy []string
	Unasked  []Answer
	// Unseen are those of which it is not known whether they have one.
	Unseen []Answer
}

func sorted(answers []Answer) Found {
	var f Found
	for _, a := range answers {
		var none *ekstypes.ResourceNotFoundException
		switch {
		case errors.As(a.Err, &none):
			f.Missing = append(f.Missing, a.Cluster)
		case a.Err != nil:
			f.Unasked = append(f.Unasked, a)
		case a.mode == ekstypes.AuthenticationModeConfigMap:
			f.ConfigMap = append(f.ConfigMap, a.Cluster)
		case a.EntryErr != nil:
			f.Unseen = append(f.Unseen, a)
		case a.byHand:
			f.ByHand = append(f.ByHand, a.Cluster)
		case a.byPolicy:
			f.ByPolicy = append(f.ByPolicy, a.Cluster)
		}
	}
	return f
}
