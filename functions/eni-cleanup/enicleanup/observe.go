package enicleanup

import (
	"context"
	"errors"
	"fmt"

	"rollcall/shared/detect"
	"rollcall/shared/remedy/call"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

const (
	// deleteCall is the one permission to write in EC2 that there is.
	deleteCall = "ec2:DeleteNetworkInterface"
	// deletes stands for it where report tells what cannot be done.
	deletes snapshot.Source = "leaked network interfaces"
)

// observe tells report what of a cluster could be read, and what could not.
func (h handler) observe(ctx context.Context, s *snapshot.Snapshot, answer *call.Answer) error {
	if answer != nil {
		f := snapshot.Failure{Source: deletes, Reason: snapshot.Broken, Call: deleteCall, Code: answer.Code, Message: answer.Message}
		switch answer.Outcome {
		case call.Denied:
			f.Reason = snapshot.Denied
		case call.NoRole:
			f.Reason, f.Code = snapshot.Denied, report.NoCleaner
		}
		s.Failures[deletes] = f
	}
	o, err := h.Run(ctx, s, detect.Look{})
	h.Count("Blind", len(o.Blind))
	if err != nil {
		return fmt.Errorf("tell report of cluster %s: %w", s.Cluster.Name, err)
	}
	return nil
}

// observeAll tells of all clusters of the VPC. It was looked at once, for all
// of them.
func (r *tour) observeAll(ctx context.Context, v *visit) error {
	var errs []error
	for _, s := range v.homes {
		name := s.Cluster.Name
		for _, source := range []snapshot.Source{snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf, snapshot.Subnets} {
			if v.homes[0].Read[source] {
				s.Read[source] = true
			}
			if f, failed := v.homes[0].Failures[source]; failed {
				s.Failures[source] = f
			}
		}
		var answer *call.Answer
		if a, failed := v.failed[name]; failed {
			answer = &a
		} else if v.did[name] {
			s.Read[deletes] = true
		}
		errs = append(errs, r.observe(ctx, s, answer))
	}
	return errors.Join(errs...)
}
