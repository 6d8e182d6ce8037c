<?php
// Sends one message with PHPMailer (Debian: libphp-phpmailer), with the port, key and CA file of the environment.
require '/usr/share/php/libphp-phpmailer/autoload.php';

$mail = new PHPMailer\PHPMailer\PHPMailer(true);
$mail->isSMTP();
$mail->Host = 'localhost';
$mail->Port = (int) getenv('SMTP_PORT');
$mail->SMTPAuth = true;
$mail->Username = 'apikey';
$mail->Password = getenv('SMTP_KEY');
$mail->SMTPSecure = getenv('SMTP_SECURE') === 'true' ? 'ssl' : 'tls';
$mail->SMTPOptions = ['ssl' => ['cafile' => getenv('SMTP_CA')]];
$mail->CharSet = 'UTF-8';
$mail->setFrom('hello@example.com', 'Acme, Inc.');
$mail->addAddress('ada@example.org', 'Zoë');
$mail->addBCC('carol@example.org');
$mail->addCustomHeader('X-Postern-Tag', 'welcome');
$mail->Subject = 'Schöne Grüße 1';
$mail->isHTML();
$mail->Body = '<p>Hallo <img src="cid:logo@example.com"> Zoë</p>';
$mail->AltBody = ".\n..\nHallo Zoë\n";
$mail->addStringAttachment("Büro\n", 'Räume.txt');
$mail->addStringEmbeddedImage("\x01\x02\x03\xff", 'logo@example.com', 'logo.png');
$mail->send();
echo $mail->getSMTPInstance()->getLastTransactionID() ?: $mail->getSMTPInstance()->getLastReply();
