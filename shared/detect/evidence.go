package detect

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/shared/checks"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/shared/lambda"
	"rollcall/shared/relay/via"
	"rollcall/shared/report"
	"rollcall/shared/s3"
	"rollcall/shared/store"
)

// KeepEvidence has what a function reads kept where it finds something, if the settings
// have a bucket for it; else it is nil.
func KeepEvidence(e lambda.Env) *evidence.Keeper {
	if e.Config.EvidenceDays == 0 || e.Config.EvidenceBucket == "" {
		return nil
	}
	k := evidence.NewKeeper(s3.New(e.AWS), e.Config.EvidenceBucket, e.Release, e.Log, e.Metrics.Count)
	e.Register(k)
	return k
}

// NewReader makes a function's reader of what its invocations share, whose answers are
// told to the keeper.
func NewReader(e lambda.Env, k *evidence.Keeper) *gather.Reader {
	r := gather.New(k.Recording(e.Watched())).WithEndpoints(e.Endpoints).InClustersAs(e.AWSAsReader).
		Relaying(via.New(e.AsksRelays(), e.Config.RolePrefix, e.Config.Relays, Uses(e)))
	if k != nil {
		r.Telling(k)
	}
	return r
}

// Uses is what is remembered of the relays of the spoke's clusters.
func Uses(e lambda.Env) via.Uses {
	return store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now).In(e.Config.Spoke)
}

// aboutEvidence is what evidence is to be kept of: what an observation found, but for
// advice, of which nothing failed.
func aboutEvidence(o report.Observation) evidence.About {
	a := evidence.About{By: o.By, Account: o.Account, Region: o.Region, Cluster: o.Cluster, At: o.At}
	for _, c := range o.Diagnosis.Causes {
		if c.Confidence != checks.Advice {
			a.Causes = append(a.Causes, evidence.Cause{Check: string(c.Check), Resource: c.Resource})
		}
	}
	return a
}
