import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.util.List;
import org.apache.ftpserver.FtpServer;
import org.apache.ftpserver.FtpServerFactory;
import org.apache.ftpserver.listener.ListenerFactory;
import org.apache.ftpserver.usermanager.impl.BaseUser;
import org.apache.ftpserver.usermanager.impl.WritePermission;

/** Starts a server with one user, talks to it from two threads, and stops it. */
public final class FtpDriver {
    public static void main(String[] args) throws Exception {
        int port = freePort();
        FtpServerFactory factory = new FtpServerFactory();
        ListenerFactory listener = new ListenerFactory();
        listener.setPort(port);
        factory.addListener("default", listener.createListener());
        BaseUser user = new BaseUser();
        user.setName("bench");
        user.setPassword("bench");
        user.setHomeDirectory(Files.createTempDirectory("ftp-driver").toString());
        user.setAuthorities(List.of(new WritePermission()));
        factory.getUserManager().save(user);
        FtpServer server = factory.createServer();
        server.start();
        Thread first = new Thread(() -> talk(port));
        Thread second = new Thread(() -> talk(port));
        first.start();
        second.start();
        first.join();
        second.join();
        server.stop();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void talk(int port) {
        try (Socket socket = new Socket("localhost", port);
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true)) {
            System.out.println(in.readLine());
            for (String command : new String[] {"USER bench", "PASS bench", "PWD", "MKD x", "CWD x", "QUIT"}) {
                out.print(command + "\r\n");
                out.flush();
                System.out.println(in.readLine());
            }
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
