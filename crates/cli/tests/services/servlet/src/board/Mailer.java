// As the janitor, but nothing makes its thread see that it is to end.
package board;

public class Mailer {
    private final Messages messages;
    private final Thread thread = new Thread(this::work, "mailer");
    private boolean stopped;
    private int mails;

    Mailer(Messages messages) {
        this.messages = messages;
    }

    void start() {
        thread.start();
    }

    private void work() {
        while (!stopped) {
            if (messages.count() > 100) {
                mails++; //~ no race: mails
            }
        }
        System.out.println("mails: " + mails);
    }

    void end() {
        stopped = true; //~ missed race: stopped with line 19: a thread that is made for a field and started elsewhere //~ no unprotected-write: stopped
    }
}
