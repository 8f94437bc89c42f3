package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/trail"
	"rollcall/local/simaws/world"
)

// objects lists a cluster's Kubernetes objects.
func objects(w *world.World) func(cluster, plural string) ([]json.RawMessage, string, error) {
	return func(cluster, plural string) ([]json.RawMessage, string, error) {
		o, err := w.Kubernetes(cluster, plural)
		if errors.Is(err, kubestate.ErrNoKind) {
			return nil, "", kubeapi.NotInstalled()
		}
		return o.Items, o.ResourceVersion, err
	}
}

// recorder has the world record calls as CloudTrail does. A capture stands
// still and records nothing.
func (s *Stage) recorder() func(call wire.Call, in, out any, err error) {
	if s.World == nil {
		return nil
	}
	return func(call wire.Call, in, out any, err error) {
		if s.options.Answered != nil {
			s.options.Answered(out, err)
		}
		s.World.Record(trail.Call{
			Operation: call.Action(), CallerARN: call.Principal.ARN, AccessKeyID: call.AccessKeyID,
			RequestID: call.RequestID, Input: in, Output: out, Err: err,
		})
	}
}

// ids makes ids in the form of a UUID that are the same in each run.
func ids() func() string {
	var n atomic.Uint64
	return func() string {
		text := strconv.FormatUint(n.Add(1), 10)
		return fmt.Sprintf("00000000-0000-4000-8000-%012s", text)
	}
}
