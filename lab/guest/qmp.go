package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"time"
)

// monitor is QEMU's machine protocol (QMP) on its socket: one command at a time, and events.
type monitor struct {
	conn    net.Conn
	replies chan qmpMessage
	events  chan qmpMessage
}

// qmpMessage is whatever QEMU sends: a reply has Return or Error, an event has Event.
type qmpMessage struct {
	Return json.RawMessage `json:"return"`
	Error  *struct {
		Desc string `json:"desc"`
	} `json:"error"`
	Event string         `json:"event"`
	Data  map[string]any `json:"data"`
}

// qmpPatience is how long QEMU may take to answer; it answers at once, but a host may be busy.
const qmpPatience = 30 * time.Second

// openMonitor connects to a QEMU that is just starting.
func openMonitor(ctx context.Context, path string) (*monitor, error) {
	m := &monitor{replies: make(chan qmpMessage), events: make(chan qmpMessage, 256)}
	var err error
	for end := time.Now().Add(qmpPatience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var d net.Dialer
		if m.conn, err = d.DialContext(ctx, "unix", path); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("QMP: %w", err)
	}
	go m.listen()
	return m, m.do("qmp_capabilities", nil)
}

// listen sorts what comes; it ends with the connection.
func (m *monitor) listen() {
	defer close(m.replies)
	defer close(m.events)
	lines := bufio.NewScanner(m.conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var msg qmpMessage
		if json.Unmarshal(lines.Bytes(), &msg) != nil {
			return
		}
		switch {
		case msg.Event != "":
			select {
			case m.events <- msg:
			default: // nobody listens to this many
			}
		case msg.Return != nil || msg.Error != nil:
			m.replies <- msg
		}
	}
}

// do runs a command and waits for its answer.
func (m *monitor) do(command string, arguments map[string]any) error {
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	if err := json.NewEncoder(m.conn).Encode(request); err != nil {
		return fmt.Errorf("QMP %s: %w", command, err)
	}
	select {
	case r, ok := <-m.replies:
		if !ok {
			return fmt.Errorf("QMP %s: QEMU closed the connection", command)
		}
		if r.Error != nil {
			return fmt.Errorf("QMP %s: %s", command, r.Error.Desc)
		}
		return nil
	case <-time.After(qmpPatience):
		return fmt.Errorf("QMP %s: no answer for %v", command, qmpPatience)
	}
}

// await waits for an event.
func (m *monitor) await(event string, patience time.Duration) (qmpMessage, error) {
	late := time.After(patience)
	for {
		select {
		case e, ok := <-m.events:
			if !ok {
				return e, fmt.Errorf("QMP: QEMU ended before event %s", event)
			}
			if e.Event == event {
				return e, nil
			}
		case <-late:
			return qmpMessage{}, fmt.Errorf("QMP: no event %s for %v", event, patience)
		}
	}
}
