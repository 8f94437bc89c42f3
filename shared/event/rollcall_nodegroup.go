package event

import (
	"encoding/json"
	"errors"
	"time"

	"rollcall/shared/spoke"
)

const lookAtNodegroup = "Rollcall Look At Nodegroup"

type nodegroupDetail struct {
	spoke.ID
	Cluster   string `json:"cluster"`
	Nodegroup string `json:"nodegroup"`
}

// LookAtNodegroup is the message by which Rollcall reminds itself of a
// nodegroup that is on its way to another status.
func LookAtNodegroup(of spoke.ID, cluster, nodegroup string, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(nodegroupDetail{of, cluster, nodegroup})
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{
		Version: "0", ID: "look/" + cluster + "/" + nodegroup + "/" + now.UTC().Format(time.RFC3339Nano),
		DetailType: lookAtNodegroup, Source: source, Time: now.UTC(), Detail: detail,
	})
}

func ownNodegroup(t *Trigger, raw json.RawMessage) error {
	d, err := detail[nodegroupDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" || d.Nodegroup == "" {
		return &Malformed{What: t.Type, Err: errors.New("the cluster or the nodegroup is missing")}
	}
	t.Kind, t.Cluster, t.Nodegroup = Reminder, d.Cluster, d.Nodegroup
	return nil
}
