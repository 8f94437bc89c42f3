package deploy

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/infra/relaystack"
	"rollcall/infra/settings"
)

// Spoke makes the deployment that of a spoke of a hub.
func (d *Deployment) Spoke(hub, externalID string) error {
	account, region, ok := strings.Cut(hub, "/")
	if !ok || externalID == "" {
		return fmt.Errorf("name the hub as ACCOUNT/REGION with --hub, and its setting externalId with --external-id")
	}
	if d.Stack == "" {
		d.Stack = "rollcall-spoke"
	}
	d.Template, d.NoSlack = SpokeTemplate, true
	d.Parameters = map[string]string{"HubAccount": account, "HubRegion": region, "ExternalId": externalID}
	return nil
}

// Relay makes the deployment that of a cluster's relay.
func (d *Deployment) Relay(ctx context.Context, chosen settings.Settings, cluster, prefix string) error {
	out, err := d.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &cluster})
	if err != nil {
		return fmt.Errorf("describe the cluster %s: %w", cluster, err)
	}
	list, err := relaystack.Parameters(out.Cluster, chosen, prefix, d.Bucket.Name, d.Release.Prefix()+"relay.zip")
	if err != nil {
		return err
	}
	if d.Stack == "" {
		d.Stack = relaystack.Name(list)
	}
	d.Template, d.NoSlack = RelayTemplate, true
	d.Parameters = map[string]string{}
	for _, p := range list {
		d.Parameters[p.ParameterKey] = p.ParameterValue
	}
	return nil
}
