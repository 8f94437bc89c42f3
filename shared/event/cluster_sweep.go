package event

import (
	"encoding/json"
	"errors"
	"time"

	"rollcall/shared/spoke"
)

const clusterSweep = "Rollcall Cluster Sweep"

type clusterDetail struct {
	spoke.ID
	Cluster string `json:"cluster"`
}

// SweepCluster is the message by which a tick asks for a look at all of one cluster of a
// spoke. Its time is when that is due; the account and the region are those of the hub's
// own clusters, of which a spoke's message says nothing but whose it is.
func SweepCluster(of spoke.ID, cluster, account, region string, due time.Time) ([]byte, error) {
	detail, err := json.Marshal(clusterDetail{of, cluster})
	if err != nil {
		return nil, err
	}
	if !of.Hub() {
		account, region = "", ""
	}
	return json.Marshal(envelope{
		Version: "0", ID: "sweep/" + of.In(cluster) + "/" + due.UTC().Format(time.RFC3339Nano),
		DetailType: clusterSweep, Source: source, Account: account, Region: region, Time: due.UTC(), Detail: detail,
	})
}

func ownSweep(t *Trigger, raw json.RawMessage) error {
	d, err := detail[clusterDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" {
		return &Malformed{What: t.Type, Err: errors.New("the cluster is missing")}
	}
	t.Kind, t.Cluster = ClusterSweep, d.Cluster
	return nil
}
