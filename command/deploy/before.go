package deploy

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"rollcall/infra/access"
	"rollcall/shared/shell"
)

// Before says what a person should know before a deployment of what EKS returned about the clusters,
// and refuses what would roll the whole stack back.
func Before(f access.Found, region, reader string) (notes []string, err error) {
	for _, a := range f.Unasked {
		notes = append(notes, fmt.Sprintf("%s: its authentication mode is not known (eks:DescribeCluster: %v). If it is CONFIG_MAP, EKS rejects the access entry and the stack rolls back: add --set configMapClusters=%s.", a.Cluster, a.Err, a.Cluster))
	}
	for _, a := range f.Unseen {
		notes = append(notes, fmt.Sprintf("%s: whether an access entry for Rollcall's reader was made there by hand is not known (eks:DescribeAccessEntry: %v). If it was, EKS rejects the stack's and the stack rolls back.", a.Cluster, a.EntryErr))
	}
	var wrong []error
	if len(f.Missing) > 0 {
		wrong = append(wrong, fmt.Errorf("EKS has no cluster %s in %s: correct --clusters (aws eks list-clusters)", strings.Join(f.Missing, ", "), region))
	}
	if len(f.ByHand) > 0 {
		var commands strings.Builder
		for _, c := range f.ByHand {
			commands.WriteString("\n  " + shell.Command("aws", "eks", "delete-access-entry", "--region", region, "--cluster-name", c, "--principal-arn", reader))
		}
		wrong = append(wrong, fmt.Errorf("the stack makes the access entry of Rollcall's reader in %s, and one was made there by hand: EKS rejects the second, and the whole stack would roll back. Delete it right before the deployment:%s",
			strings.Join(f.ByHand, ", "), commands.String()))
	}
	return notes, errors.Join(wrong...)
}

// ErrWay is that a person has to name the way in which the deployed stack reads Kubernetes.
var ErrWay = errors.New("the deployed stack reads Kubernetes by EKS access policies, and the default of kubernetesAccess is group: add --set kubernetesAccess=policy to keep what is deployed, or --set kubernetesAccess=group to replace it by a narrower ClusterRole")

// Way asks in which way Rollcall is to read Kubernetes, where the deployed stack has access policies
// and the settings name no way.
func (t Terminal) Way(clusters []string) (string, error) {
	if !t.Interactive {
		return "", ErrWay
	}
	fmt.Fprintf(t.Out, "The deployed stack reads in %s by EKS access policies. The default is now the Kubernetes group rollcall, whose ClusterRole is narrower and is applied in each cluster.\nType policy to keep what is deployed, or group to replace it: ", strings.Join(clusters, ", "))
	line, err := t.In.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	switch way := strings.TrimSpace(line); way {
	case "policy", "group":
		return way, nil
	}
	return "", ErrDeclined
}
