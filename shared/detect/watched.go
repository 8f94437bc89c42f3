package detect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Known is what is known of clusters before they are listed.
type Known interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
}

// Watched are the clusters of a sweep: those that the settings name; else all that EKS
// lists, and those with open incidents that it does not list. Whether such a one was
// deleted is asked of EKS by its name. Where the list cannot be read that is said, and
// what is known to be in trouble is swept all the same.
func (d Detector) Watched(ctx context.Context, account string, known Known) ([]string, error) {
	if d.Clusters != nil && d.Spoke.Hub() {
		return d.Clusters, nil
	}
	listed, failed := d.Reader.Clusters(ctx)
	if err := d.tellList(ctx, account, known, failed); err != nil {
		return nil, err
	}
	switch {
	case failed != nil && failed.Call == AssumeRole:
		return []string{}, nil // of such a spoke nothing can be read: that is said once, not for each cluster
	case d.Clusters != nil:
		return d.Clusters, nil
	}
	names := append([]string{}, listed...) // never nil, which would be all of the region
	records, err := known.ClusterRecords(ctx)
	if err != nil {
		d.Log.WarnContext(ctx, "which clusters have open incidents is not known", "error", err.Error())
	}
	for _, r := range records {
		if r.Open && r.Cluster != report.AllClusters && !slices.Contains(names, r.Cluster) {
			names = append(names, r.Cluster)
		}
	}
	return names, nil
}

// tellList says that the clusters cannot be listed, and takes it back when they
// can.
func (d Detector) tellList(ctx context.Context, account string, known Known, failed *snapshot.Failure) error {
	o := d.About(report.AllClusters, account)
	if failed != nil {
		d.Log.ErrorContext(ctx, "the clusters cannot be listed", "call", failed.Call, "reason", failed.Reason, "code", failed.Code, "error", failed.Message)
		d.Count("BlindSweeps", 1)
		o.Blind = []snapshot.Failure{*failed}
		return d.Tell(ctx, o)
	}
	open, err := known.Incidents(ctx, report.AllClusters)
	if err != nil {
		return fmt.Errorf("read what was said of the list of clusters: %w", err)
	}
	if !slices.ContainsFunc(open, func(i incident.Incident) bool { return i.State != incident.Closed }) {
		return nil
	}
	o.Read = []snapshot.Source{snapshot.Clusters}
	return d.Tell(ctx, o)
}

// About is an observation that saw nothing of a cluster's nodes.
func (d Detector) About(cluster, account string) report.Observation {
	now := d.Now()
	return report.Observation{
		Format: report.Format, ID: d.By + "/" + cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: d.By, At: now,
		Account: account, Region: d.Region, Partition: spoke.Partition(d.Region), Cluster: cluster, Sweep: true,
	}
}
