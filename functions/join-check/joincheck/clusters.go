package joincheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rollcall/functions/join-check/spec"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// toSweep are the clusters of a sweep: those that the settings name; else all that
// EKS lists, and those with open incidents that it does not list. Whether such a
// one was deleted is asked of EKS by its name. Where the list cannot be read that
// is said, and what is known to be in trouble is swept all the same.
func (h handler) toSweep(ctx context.Context, t event.Trigger) ([]string, error) {
	if h.Clusters != nil && h.hub {
		return h.Clusters, nil
	}
	listed, failed := h.Reader.Clusters(ctx)
	if err := h.tellList(ctx, t, failed); err != nil {
		return nil, err
	}
	switch {
	case failed != nil && failed.Call == detect.AssumeRole:
		return []string{}, nil // of such a spoke nothing can be read: that is said once, not for each cluster
	case h.Clusters != nil:
		return h.Clusters, nil
	}
	names := append([]string{}, listed...) // never nil, which would be all of the region
	records, err := h.launches.ClusterRecords(ctx)
	if err != nil {
		h.Log.WarnContext(ctx, "which clusters have open incidents is not known", "error", err.Error())
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
func (h handler) tellList(ctx context.Context, t event.Trigger, failed *snapshot.Failure) error {
	o := h.about(report.AllClusters, t.Account, h.Now())
	if failed != nil {
		h.Log.ErrorContext(ctx, "the clusters cannot be listed", "call", failed.Call, "reason", failed.Reason, "code", failed.Code, "error", failed.Message)
		h.Count("BlindSweeps", 1)
		o.Blind = []snapshot.Failure{*failed}
	} else {
		known, err := h.launches.Incidents(ctx, report.AllClusters)
		if err != nil {
			return fmt.Errorf("read what was said of the list of clusters: %w", err)
		}
		if !slices.ContainsFunc(known, unclosed) {
			return nil
		}
		o.Read = []snapshot.Source{snapshot.Clusters}
	}
	return h.Tell(ctx, o)
}

// tellGone tells report that EKS has no cluster of this name, if anything of it is
// open. EKS was asked for it by its name, and answered so.
func (h handler) tellGone(ctx context.Context, cluster string, r roll) error {
	if !slices.ContainsFunc(r.incidents, unclosed) {
		return nil
	}
	h.Log.InfoContext(ctx, "EKS does not have the cluster any more, its incidents are closed", "cluster", cluster)
	h.Count("DeletedClusters", 1)
	o := h.about(cluster, r.account, h.Now())
	o.ClusterGone = true
	return h.Tell(ctx, o)
}

// about is an observation that saw nothing of a cluster's nodes.
func (h handler) about(cluster, account string, now time.Time) report.Observation {
	return report.Observation{
		Format: report.Format, ID: spec.Name + "/" + cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: spec.Name, At: now,
		Account: account, Region: h.Region, Partition: spoke.Partition(h.Region), Cluster: cluster, Sweep: true,
	}
}

func unclosed(inc incident.Incident) bool { return inc.State != incident.Closed }
