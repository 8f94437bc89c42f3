package queue

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/local/platform/wire"
)

// GetQueueAttributes returns the attributes that were asked for.
func (q *Queues) GetQueueAttributes(in *sqs.GetQueueAttributesInput) (*sqs.GetQueueAttributesOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all, err := s.attributes(q.clock.Now())
	if err != nil {
		return nil, err
	}
	out := &sqs.GetQueueAttributesOutput{Attributes: map[string]string{}}
	for _, name := range in.AttributeNames {
		if name == types.QueueAttributeNameAll {
			out.Attributes = all
			return out, nil
		}
		if !known(name) {
			return nil, wire.Errorf("InvalidAttributeName", "Unknown Attribute %s.", name)
		}
		if v, ok := all[string(name)]; ok {
			out.Attributes[string(name)] = v
		}
	}
	return out, nil
}

func known(name types.QueueAttributeName) bool {
	for _, n := range name.Values() {
		if n == name {
			return true
		}
	}
	return false
}

func (s *store) attributes(now time.Time) (map[string]string, error) {
	secs := func(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
	d := s.depth(now)
	out := map[string]string{
		"QueueArn":                              s.ARN,
		"ApproximateNumberOfMessages":           strconv.Itoa(d.Visible),
		"ApproximateNumberOfMessagesNotVisible": strconv.Itoa(d.InFlight),
		"ApproximateNumberOfMessagesDelayed":    strconv.Itoa(d.Delayed),
		"CreatedTimestamp":                      strconv.FormatInt(s.created.Unix(), 10),
		"LastModifiedTimestamp":                 strconv.FormatInt(s.created.Unix(), 10),
		"VisibilityTimeout":                     secs(*s.Visibility),
		"MaximumMessageSize":                    strconv.Itoa(s.MaxBytes),
		"MessageRetentionPeriod":                secs(s.Retention),
		"DelaySeconds":                          secs(s.Delay),
		"ReceiveMessageWaitTimeSeconds":         secs(s.Wait),
		"SqsManagedSseEnabled":                  "true",
	}
	if s.FIFO {
		out["FifoQueue"] = "true"
		out["ContentBasedDeduplication"] = strconv.FormatBool(s.ContentDedup)
	}
	if s.DeadLetterARN != "" {
		policy, err := json.Marshal(struct {
			Target string `json:"deadLetterTargetArn"`
			Max    int    `json:"maxReceiveCount"`
		}{s.DeadLetterARN, s.MaxReceive})
		if err != nil {
			return nil, err
		}
		out["RedrivePolicy"] = string(policy)
	}
	return out, nil
}
