package lambdaruntime

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner starts processes from one thread that stays.
//
// On Linux a child asks for a signal when its parent dies, so that nothing
// is left behind even if the stage is killed. "Parent" is there the thread
// that forked, not the process: if Go ended that thread, the children would
// be killed with it. So all are forked on one goroutine that is locked to
// its thread until the last child has ended.
type spawner struct {
	requests chan request
	done     chan struct{}
	once     sync.Once
}

type request struct {
	cmd *exec.Cmd
	err chan error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan request), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			select {
			case r := <-s.requests:
				r.err <- r.cmd.Start()
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *spawner) start(cmd *exec.Cmd) error {
	r := request{cmd: cmd, err: make(chan error, 1)}
	select {
	case s.requests <- r:
		return <-r.err
	case <-s.done:
		return ErrClosed
	}
}

// close ends the thread's work; the children must have ended before.
func (s *spawner) close() { s.once.Do(func() { close(s.done) }) }
