package store

import "rollcall/shared/spec"

// Reads is what reading the table and its index over open launches needs.
func Reads() []spec.Read { return read(spec.Actions[Reader]("dynamodb"), spec.Table, spec.TableIndex) }

// ReadHistory is what reading the launches of the past, the open ones too, and
// the samples needs.
func ReadHistory() []spec.Read {
	return read(spec.Actions[Querier]("dynamodb"), spec.Table, spec.TableIndex, spec.EndedIndex)
}

// ReadJoinTimes is what reading the learned join times needs.
func ReadJoinTimes() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }

// ReadSamples is what reading the samples of subnets needs.
func ReadSamples() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }

// ReadLaunches is what reading launches by their ids needs.
func ReadLaunches() []spec.Read { return read(spec.Actions[Getter]("dynamodb"), spec.Table) }

// ReadIncidents is what reading incidents alone needs: no launch is in reach
// through the index.
func ReadIncidents() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }

func read(actions []string, from ...spec.Resource) []spec.Read {
	var names []string
	for _, r := range from {
		names = append(names, string(r))
	}
	return []spec.Read{{Actions: actions, Resources: names}}
}

// RecordLaunches lets a function write launch records and nothing else: the
// table's partition keys begin with the kind of the record.
func RecordLaunches() spec.Grant {
	return write("RecordLaunches", "Each launch is recorded once, whichever event or sweep brought it, until its outcome is known.", launchPrefix)
}

// RecordJoinTimes lets a function write how long nodes took to join.
func RecordJoinTimes() spec.Grant {
	return write("RecordJoinTimes", "How long the nodes of each nodegroup take to join is learned from those that did.", joinTimePrefix)
}

// RecordSamples lets a function write what subnets had left.
func RecordSamples() spec.Grant {
	return write("RecordSamples", "What a subnet had left when launches began tells later whether they were too many for it.", samplePrefix)
}

// RecordIncidents lets a function write incidents and nothing else.
func RecordIncidents() spec.Grant {
	return write("RecordIncidents", "What was said, where, and what is still to be said outlives the function.", incidentPrefix)
}

func write(sid, why string, prefixes ...string) spec.Grant {
	var keys []string
	for _, prefix := range prefixes {
		keys = append(keys, prefix+"*")
	}
	return spec.Grant{
		Sid:       sid,
		Why:       why,
		Actions:   spec.Actions[Writer]("dynamodb"),
		Resources: []spec.Resource{spec.Table},
		Conditions: map[string]map[string][]string{
			"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys},
		},
	}
}
